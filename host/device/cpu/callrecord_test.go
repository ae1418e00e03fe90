package cpu_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/cpu"
	"github.com/ccrun/ccrun/host/device/devicetest"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// TestCallRecords reads what a rank records of a direct all-reduce, of one
// through slots and of a group of both, by levels.
func TestCallRecords(t *testing.T) {
	want := map[flight.Level]string{
		flight.LevelOff:        ``,
		flight.LevelCollective: `collective`,
		flight.LevelSlice:      `reduce put collective`,
	}
	for level, each := range want {
		dir := t.TempDir()
		exchange := new(devicetest.Exchange)
		var both sync.WaitGroup
		for rank := range 2 {
			both.Go(func() {
				if err := recordCalls(dir, rank, level, exchange); err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
			})
		}
		both.Wait()
		direct, oneshot := "", ""
		for _, kind := range strings.Fields(each) {
			peer := 1
			if kind == "collective" {
				peer = -1
				oneshot = "collective/%d/-1/64 "
			}
			direct += fmt.Sprintf("%s/%%d/%d/64 ", kind, peer)
		}
		direct = strings.ReplaceAll(direct, "reduce/%d/1/64", "reduce/%d/1/32")
		direct = strings.ReplaceAll(direct, "put/%d/1/64", "put/%d/1/32")
		expected := ""
		for i, one := range []string{direct, oneshot, oneshot} {
			if one != "" {
				expected += fmt.Sprintf(strings.ReplaceAll(one, "%d", "%[1]d"), i+5)
			}
		}
		if got := readRecords(t, filepath.Join(dir, "0")); got != expected {
			t.Errorf("level %s: records are\n%s\nwant\n%s", level, got, expected)
		}
	}
}

// recordCalls carries out a direct call, number 5, and a group of two through
// slots.
func recordCalls(dir string, rank int, level flight.Level, exchange device.Exchange) error {
	recorder, err := flight.Create(filepath.Join(dir, fmt.Sprint(rank)), flight.Meta{Rank: rank, Size: 2}, 0)
	if err != nil {
		return err
	}
	recorder.Level = level
	d, err := cpu.Open(device.Config{Rank: rank, Size: 2, Exchange: exchange, Recorder: recorder, MemoryBytes: 1 << 20})
	if err != nil {
		return err
	}
	c := processConfig{Rank: rank, Size: 2, Bytes: 64}
	comm, err := world(c, d)
	if err != nil {
		return err
	}
	b, err := d.Alloc(1000)
	if err != nil {
		return err
	}
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	call := op.Call{
		Collective: op.AllReduce, Type: op.F32, Count: 16, Bytes: 64, In: op.View{Buf: b}, Out: op.View{Buf: b, Off: 500},
	}
	call.Program = direct(c)
	first := op.Op{Kind: op.CollectiveCall, Comm: comm, Call: &call, Term: op.Term{Collective: 5}}
	if err := s.Submit(&first); err != nil {
		return err
	}
	call.Program = oneshot(c)
	next := call
	call.Next = &next
	first.Term.Collective = 6
	if err := s.Submit(&first); err != nil {
		return err
	}
	if err := s.Sync(device.Forever); err != nil {
		return err
	}
	if err := d.Close(); err != nil {
		return err
	}
	return recorder.Close()
}

// readRecords gives kind, collective, peer and bytes of every record.
func readRecords(t *testing.T, path string) string {
	t.Helper()
	log, err := flight.Open(path)
	must(t, err)
	defer log.Close()
	var text strings.Builder
	for r := range log.Records() {
		fmt.Fprintf(&text, "%s/%d/%d/%d ", op.Kind(r.Kind), r.Collective, r.Peer, r.Bytes)
	}
	return text.String()
}

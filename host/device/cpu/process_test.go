package cpu_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/rpc"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/cpu"
	"github.com/ccrun/ccrun/host/device/devicetest"
	"github.com/ccrun/ccrun/host/flight"
)

// processConfig is how a rank that is a process of its own, a copy of this
// test binary, learns what to do.
type processConfig struct {
	Program    string // key of programs
	Rank, Size int
	N          int
	Bytes      int64
	Level      flight.Level
	Dir        string // holds the exchange's socket and the flight files
	Result     string // file for what the program returns

	exchange device.Exchange
}

const processEnv = "CCRUN_CPU_TEST_RANK"

// TestMain makes the test binary a rank if it is told so.
func TestMain(m *testing.M) {
	text, ok := os.LookupEnv(processEnv)
	if !ok {
		os.Exit(m.Run())
	}
	if err := runProcess(text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func runProcess(text string) (err error) {
	var c processConfig
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return err
	}
	runtime.GOMAXPROCS(2)
	client, err := rpc.Dial("unix", filepath.Join(c.Dir, "exchange"))
	if err != nil {
		return err
	}
	c.exchange = remoteExchange{client}
	recorder, err := flight.Create(filepath.Join(c.Dir, "flight-"+strconv.Itoa(c.Rank)), flight.Meta{Rank: c.Rank, Size: c.Size}, 0)
	if err != nil {
		return err
	}
	recorder.Level = c.Level
	d, err := cpu.Open(device.Config{
		Rank: c.Rank, Size: c.Size, Exchange: c.exchange, Recorder: recorder, MemoryBytes: 256 << 20,
	})
	if err != nil {
		return err
	}
	result, err := programs[c.Program](c, d)
	if err != nil {
		return fmt.Errorf("rank %d: %w", c.Rank, err)
	}
	return errors.Join(os.WriteFile(c.Result, []byte(result), 0o600), d.Close(), recorder.Close())
}

// process is a started rank.
type process struct {
	*exec.Cmd
	result string
}

// startProcesses starts the ranks of a program, each pinned to a processor.
func startProcesses(tb testing.TB, program string, size, n int) []*process {
	tb.Helper()
	return startConfigured(tb, size, processConfig{Program: program, N: n, Level: flight.LevelSlice})
}

// startConfigured is startProcesses with all that a program may be told.
func startConfigured(tb testing.TB, size int, c processConfig) []*process {
	tb.Helper()
	programs := make([]string, size)
	for i := range programs {
		programs[i] = c.Program
	}
	ranks, _ := startMixed(tb, programs, c)
	return ranks
}

// startMixed starts one rank of each program, and gives the exchange too.
func startMixed(tb testing.TB, programs []string, c processConfig) ([]*process, *devicetest.Exchange) {
	tb.Helper()
	self, err := os.Executable()
	must(tb, err)
	dir, size := tb.TempDir(), len(programs)
	exchange := serveExchange(tb, dir)
	ranks := make([]*process, size)
	for i, program := range programs {
		result := filepath.Join(dir, "result-"+strconv.Itoa(i))
		c.Program, c.Rank, c.Size, c.Dir, c.Result = program, i, size, dir, result
		config, err := json.Marshal(c)
		must(tb, err)
		p := &process{Cmd: exec.Command(self), result: result}
		p.Env = append(os.Environ(), processEnv+"="+string(config))
		p.Stderr = os.Stderr
		must(tb, startPinned(p.Cmd, i%runtime.NumCPU()))
		tb.Cleanup(func() {
			_ = p.Process.Kill() // fails if it has ended, as it should
			_ = p.Wait()
		})
		ranks[i] = p
	}
	return ranks, exchange
}

// startPinned starts a command whose threads inherit one processor.
func startPinned(c *exec.Cmd, processor int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	one.Set(processor)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return c.Start() // not allowed here: unpinned then
	}
	return errors.Join(c.Start(), unix.SchedSetaffinity(0, &before))
}

// finish waits for a rank and gives what its program returned.
func (p *process) finish(tb testing.TB) string {
	tb.Helper()
	must(tb, p.Wait())
	result, err := os.ReadFile(p.result)
	must(tb, err)
	return string(result)
}

// ExchangeServer offers an exchange to other processes.
type ExchangeServer struct{ exchange devicetest.Exchange }

// ExchangeCall is a request to an [ExchangeServer].
type ExchangeCall struct {
	Key        string
	Old, Value []byte
	Timeout    time.Duration
}

// Set serves device.Exchange.Set.
func (s *ExchangeServer) Set(c ExchangeCall, _ *[]byte) error { return s.exchange.Set(c.Key, c.Value) }

// Get serves device.Exchange.Get; an empty reply is a timeout.
func (s *ExchangeServer) Get(c ExchangeCall, reply *[]byte) error {
	value, err := s.exchange.Get(c.Key, c.Timeout)
	if errors.Is(err, device.ErrTimeout) {
		return nil
	}
	*reply = value
	return err
}

func serveExchange(tb testing.TB, dir string) *devicetest.Exchange {
	tb.Helper()
	server, served := rpc.NewServer(), new(ExchangeServer)
	must(tb, server.RegisterName("x", served))
	listener, err := net.Listen("unix", filepath.Join(dir, "exchange"))
	must(tb, err)
	tb.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go server.ServeConn(connection)
		}
	}()
	return &served.exchange
}

// remoteExchange is an exchange that another process serves.
type remoteExchange struct{ client *rpc.Client }

func (x remoteExchange) Set(key string, value []byte) error {
	return x.client.Call("x.Set", ExchangeCall{Key: key, Value: value}, new([]byte))
}

func (x remoteExchange) Get(key string, timeout time.Duration) ([]byte, error) {
	var value []byte
	err := x.client.Call("x.Get", ExchangeCall{Key: key, Timeout: timeout}, &value)
	if err == nil && len(value) == 0 {
		err = device.ErrTimeout
	}
	return value, err
}

func (x remoteExchange) CompareAndSwap(string, []byte, []byte) ([]byte, error) {
	return nil, device.ErrMissing
}

// TestProcessRing runs a ring of ranks that are processes, more of them than
// most machines have processors.
func TestProcessRing(t *testing.T) {
	for _, size := range []int{2, 5} {
		for i, p := range startProcesses(t, "ring", size, 200) {
			if got := p.finish(t); got != "200" {
				t.Errorf("rank %d of %d: %s of 200 rounds right", i, size, got)
			}
		}
	}
}

// TestProcessKilled kills a rank with SIGKILL. Its memory stays with those who
// have mapped it, and waits for it end.
func TestProcessKilled(t *testing.T) {
	ranks, exchange := startMixed(t, []string{"survivor", "victim"}, processConfig{Level: flight.LevelSlice})
	_, err := exchange.Get("ready", time.Minute)
	must(t, err)
	must(t, ranks[1].Process.Kill())
	if err := ranks[1].Wait(); err == nil {
		t.Error("the victim ended in peace")
	}
	must(t, exchange.Set("killed", []byte{1}))
	if got := ranks[0].finish(t); got != "0 wrong, barrier times out: true" {
		t.Errorf("the survivor found %s", got)
	}
}

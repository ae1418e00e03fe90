package runner

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ccrun/ccrun/host/coll"
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/oplog"
	"github.com/ccrun/ccrun/host/op"
	"github.com/ccrun/ccrun/runner/guest"
	"github.com/ccrun/ccrun/runner/wasm"
)

// A recorded run leaves a file of operations for each rank in the run
// directory; a replay carries such files out in the guest's place.

func oplogPath(dir string, rank int) string {
	return filepath.Join(dir, fmt.Sprintf("rank-%04d.oplog", rank))
}

// record wraps the rank's device so that what the guest asks of it is written
// down, in a new file.
func (r *rank) record() {
	_ = os.Remove(oplogPath(r.spec.RunDir, r.spec.Rank)) // there is none in a directory of our own
	r.site = &guest.CallSite{}
	r.recording = oplog.Record(r.device, oplog.Options{
		Rank: r.spec.Rank, Ranks: r.spec.Size, Out: &appended{oplogPath(r.spec.RunDir, r.spec.Rank)}, Function: r.site.Function,
	})
	r.device = r.recording.Wrapped()
}

// appended is a file that is opened for each write only: a simulated run has
// more ranks than a process may have files open.
type appended struct{ path string }

// Write implements io.Writer.
func (a *appended) Write(b []byte) (int, error) {
	file, err := os.OpenFile(a.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return 0, err
	}
	n, err := file.Write(b)
	return n, errors.Join(err, file.Close())
}

// endRecording ends what is the guest's doing. A rank that was given up did not
// come to its end.
func (r *rank) endRecording(exit guest.Exit) guest.Exit {
	if r.recording == nil {
		return exit
	}
	end := r.recording.End
	if errors.Is(exit.Err, device.ErrAborted) {
		end = r.recording.Flush
	}
	if err := end(); err != nil && exit.Err == nil {
		exit = guest.Exit{Err: &recordError{err}}
	}
	return exit
}

// recordError is of a rank whose operations could not be written down: that is
// not the guest's doing.
type recordError struct{ err error }

func (e *recordError) Error() string {
	return "its operations could not be written down: " + e.err.Error() + "; make room"
}

// WriteLog writes the log of a recorded run, of the parts that its ranks left
// in the run directory, which must still be there. It tells which ranks did not
// come to their end: a replay of those ends where they were cut off.
func (r *Result) WriteLog(path string) (cut []int, err error) {
	part := path + ".part"
	out, err := os.Create(part)
	if err != nil {
		return nil, err
	}
	_, err = out.Write(oplog.AppendHead(nil, r.Device, r.Ranks))
	for rank := 0; rank < r.Ranks && err == nil; rank++ {
		var whole bool
		if whole, err = copyPart(out, oplogPath(r.RunDir, rank)); err == nil && !whole {
			cut = append(cut, rank)
		}
	}
	err = errors.Join(err, out.Close())
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		_ = os.Remove(part) // the first error is worth more
	}
	return cut, err
}

// partEnd is how the part of a rank ends that came to its end.
const partEnd = "\nend\n"

// copyPart appends a rank's part, if it has left one, and tells whether that is
// whole.
func copyPart(out io.Writer, path string) (whole bool, err error) {
	part, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer part.Close()
	if _, err := io.Copy(out, part); err != nil {
		return false, err
	}
	var tail [len(partEnd)]byte
	if at, err := part.Seek(-int64(len(tail)), io.SeekEnd); err != nil || at < 0 {
		return false, nil
	}
	if _, err := io.ReadFull(part, tail[:]); err != nil {
		return false, err
	}
	return string(tail[:]) == partEnd, nil
}

// prepareReplay reads and checks the log of a replay, which has its number of
// ranks.
func (c *Config) prepareReplay() error {
	data, err := readOplog(c.WasmPath)
	if err != nil {
		return err
	}
	log, err := oplog.Parse(bytes.NewReader(data), nil)
	if err != nil {
		return refuse("ccrun record -o FILE.oplog WORKFLOW.wasm writes one", "%s: %v", c.WasmPath, err)
	}
	if c.Ranks != 0 && c.Ranks != log.Ranks {
		return refuse("leave -n out", "%s has %d ranks, not %d", c.WasmPath, log.Ranks, c.Ranks)
	}
	for rank := range log.Ranks {
		if log.Program(rank) == nil {
			return refuse("record it again", "%s tells nothing of rank %d", c.WasmPath, rank)
		}
	}
	c.Ranks, c.log, c.keepsData = log.Ranks, log, log.KeepsData()
	return nil
}

// oplogBytesMax bounds what is read into memory.
const oplogBytesMax = 8 << 30

func readOplog(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > oplogBytesMax) {
		err = errors.New("not a file, or too large")
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		var pathError *fs.PathError
		if errors.As(err, &pathError) {
			err = pathError.Err
		}
		return nil, refuse("ccrun record -o FILE.oplog WORKFLOW.wasm writes one", "cannot read %s: %v", path, err)
	}
	return data, nil
}

// readModule gives the module that a rank runs: the guest, or for a replay one
// that does nothing and stands for the log, so that all ranks know that they
// carry out the same.
func readModule(path string, replay bool) ([]byte, error) {
	if !replay {
		return guest.Read(path)
	}
	data, err := readOplog(path)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	m := &wasm.Module{
		MemoryPages: 1, Functions: []wasm.Function{{Name: "replay", Export: "_start"}},
		Data: []wasm.Data{{Bytes: string(sum[:])}},
	}
	return m.Bytes(), nil
}

// loadLog reads what this rank is to replay.
func (r *rank) loadLog() error {
	if !r.spec.Replay || r.log != nil {
		return nil
	}
	data, err := readOplog(r.spec.WasmPath)
	if err == nil {
		r.log, err = oplog.Parse(bytes.NewReader(data), func(rank int) bool { return rank == r.spec.Rank })
	}
	return err
}

// executeReplay carries recorded operations out where the guest would run.
func (r *rank) executeReplay() guest.Exit {
	plans := &planner{rank: r, known: make(map[coll.Shape]*op.Program)}
	err := oplog.Body(r.log.Program(r.spec.Rank), oplog.Stage{
		Rank: r.spec.Rank, Ranks: r.spec.Size, Device: r.device, Exchange: r.keys, Recorder: r.recorder,
		Plan: plans.plan, Verify: r.spec.KeepsData, Stopped: r.givenUp,
	})()
	if err == nil {
		return guest.Exit{}
	}
	exit := guest.Exit{Err: err, Trap: err.Error()}
	var line *oplog.LineError
	if errors.As(err, &line) && line.Function != "" {
		exit.Stack = []guest.Frame{{Function: line.Function}}
	}
	return exit
}

// givenUp says why the run was given up, nil while it is not.
func (r *rank) givenUp() error {
	select {
	case <-r.stop:
		return fmt.Errorf("%w: %w", device.ErrAborted, r.order)
	default:
		return nil
	}
}

// planner plans the calls of a replay as package module plans a guest's.
type planner struct {
	rank  *rank
	known map[coll.Shape]*op.Program
}

func (p *planner) plan(c *op.Call, comm device.Comm, sliceBytes int64) error {
	row := coll.Of(c.Collective)
	if row == nil {
		return fmt.Errorf("collective %s: %w", c.Collective, coll.ErrShape)
	}
	s := coll.Shape{Collective: c.Collective, Algorithm: coll.Algorithm(c.Algorithm), Type: c.Type, Ranks: comm.Size(), Count: c.Count, SliceBytes: sliceBytes}
	if row.Rooted {
		s.Root = c.Root
	}
	s.InPlace = c.In.Buf != nil && c.In.Buf == c.Out.Buf && c.In.Off-c.Out.Off == s.InPlaceOffset(comm.Rank())
	program := p.known[s]
	if program == nil {
		var err error
		if program, err = coll.Plan(s, comm.Rank()); err != nil {
			return err
		}
		p.known[s] = program
	}
	c.Program, c.Bytes, c.NameIndex = program, s.Bytes(), p.rank.recorder.Name(program.Name)
	return nil
}

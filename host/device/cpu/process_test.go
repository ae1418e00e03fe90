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
	self, err := os.Executable()
	must(tb, err)
	dir := tb.TempDir()
	serveExchange(tb, dir)
	ranks := make([]*process, size)
	for i := range ranks {
		result := filepath.Join(dir, "result-"+strconv.Itoa(i))
		config, err := json.Marshal(processConfig{Program: program, Rank: i, Size: size, N: n, Dir: dir, Result: result})
		must(tb, err)
		p := &process{Cmd: exec.Command(self), result: result}
		p.Env = append(os.Environ(), processEnv+"="+string(config))
		p.Stderr = os.Stderr
		must(tb, startPinned(p.Cmd, i%onlineCPUs()))
		tb.Cleanup(func() {
			_ = p.Process.Kill() // fails if it has ended, as it should
			_ = p.Wait()
		})
		ranks[i] = p
	}
	return ranks
}

func onlineCPUs() int { return runtime.NumCPU() }

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

func serveExchange(tb testing.TB, dir string) {
	tb.Helper()
	server := rpc.NewServer()
	must(tb, server.RegisterName("x", new(ExchangeServer)))
	listener, err := net.Listen("unix", filepath.Join(dir, "exchange"))
	must(tb, err)
	tb.Cleanup(func() { _ = listener.Close() })
	go server.Accept(listener)
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

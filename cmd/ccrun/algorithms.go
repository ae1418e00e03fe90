package main

import (
	"errors"
	"io/fs"
	"os"

	"github.com/ccrun/ccrun/host/coll"
)

const (
	// algorithmsVariable is used when the flag is not given.
	algorithmsVariable = "CCRUN_ALGORITHMS"
	algorithmsUsage    = "select algorithms by the table in `FILE`, which ccrun calibrate writes (default: $" + algorithmsVariable + ")"
	algorithmsHint     = "ccrun calibrate writes such a file; its lines are like: all_reduce ranks_max=4 bytes_max=16384 algorithm=oneshot"
	tableBytesMax      = 1 << 20
)

// algorithmsValue is a file with a selection table.
type algorithmsValue struct {
	path  string
	table coll.Table
}

func (v *algorithmsValue) Set(path string) error {
	table, err := readTable(path)
	if err != nil {
		return hinted(err.Error(), algorithmsHint)
	}
	v.path, v.table = path, table
	return nil
}

func (v *algorithmsValue) String() string { return v.path }

// fromEnvironment reads the file that the environment names, if the flag has
// named none.
func (v *algorithmsValue) fromEnvironment(env func(string) string) error {
	path := env(algorithmsVariable)
	if path == "" || v.path != "" {
		return nil
	}
	table, err := readTable(path)
	if err != nil {
		return usageError{algorithmsVariable + "=" + path + ": " + err.Error(), algorithmsHint}
	}
	v.path, v.table = path, table
	return nil
}

func readTable(path string) (coll.Table, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("no such file")
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("a directory")
	case info.Size() > tableBytesMax:
		return nil, errors.New("too large for a selection table")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return coll.ParseTable(string(text))
}

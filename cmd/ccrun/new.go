package main

import (
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	guestsdk "github.com/ccrun/ccrun/guest-sdk"
)

// workflowTemplate is the workflow to start from.
//
//go:embed template/main.go.txt
var workflowTemplate string

// sdkModule is the module that guests import the SDK from.
const sdkModule = "github.com/ccrun/ccrun"

// sdkDir is where the SDK goes, below the new directory.
const sdkDir = "ccrun"

func newCommand(s *state) *cli.Command {
	force := false
	return &cli.Command{
		Name:      "new",
		Usage:     "write a Go workflow to start from, with the SDK beside it",
		UsageText: "ccrun new [flags] DIR",
		Description: `   ccrun new my_workflow
   cd my_workflow && GOOS=wasip1 GOARCH=wasm go build -o my_workflow.wasm .
   ccrun -n 4 my_workflow.wasm
`,
		Flags: []cli.Flag{boolFlag(&force, "overwrite files that are there", "force", "f")},
		Action: func(c *cli.Context) error {
			dir, err := oneArgument(c, "directory")
			if err != nil {
				return err
			}
			return writeWorkflow(s, dir, force)
		},
	}
}

// newFile is a file to write, its path from the new directory on.
type newFile struct{ path, text string }

func writeWorkflow(s *state, dir string, force bool) error {
	files, err := workflowFiles(dir)
	if err != nil {
		return err
	}
	if !force {
		if err := refuseOverwriting(dir, files); err != nil {
			return err
		}
	}
	for _, file := range files {
		if err := file.write(dir); err != nil {
			return usageError{"cannot write there: " + err.Error(), "choose a directory that can be written"}
		}
	}
	name := moduleName(dir)
	_, err = fmt.Fprintf(s.stdout, `wrote %[1]s: main.go, go.mod, the SDK in %[3]s/
next:
  cd %[1]s
  GOOS=wasip1 GOARCH=wasm go build -o %[2]s.wasm .
  ccrun -n 4 %[2]s.wasm
`, dir, name, sdkDir)
	return err
}

// workflowFiles lists what makes a directory a workflow that builds without a
// network: the SDK is a module of its own and imports nothing.
func workflowFiles(dir string) ([]newFile, error) {
	files := []newFile{
		{"main.go", workflowTemplate},
		{"go.mod", fmt.Sprintf("module %s\n\ngo 1.26\n\nrequire %s v0.0.0\n\nreplace %s => ./%s\n", moduleName(dir), sdkModule, sdkModule, sdkDir)},
		{".gitignore", "*.wasm\n"},
		{sdkDir + "/go.mod", "module " + sdkModule + "\n\ngo 1.26\n"},
	}
	err := fs.WalkDir(guestsdk.Go, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") {
			return err
		}
		text, err := fs.ReadFile(guestsdk.Go, name)
		files = append(files, newFile{path.Join(sdkDir, "guest-sdk", name), string(text)})
		return err
	})
	return files, err
}

var notInName = regexp.MustCompile(`[^a-z0-9_]+`)

// moduleName makes a name for the workflow from its directory's.
func moduleName(dir string) string {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		absolute = dir
	}
	return orElse(strings.Trim(notInName.ReplaceAllString(strings.ToLower(filepath.Base(absolute)), "_"), "_"), "workflow")
}

// refuseOverwriting lists the user's files that would be lost.
func refuseOverwriting(dir string, files []newFile) error {
	there := slices.DeleteFunc(slices.Clone(files), func(file newFile) bool {
		_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(file.path)))
		return err != nil
	})
	if len(there) == 0 {
		return nil
	}
	return usageError{filepath.Join(dir, there[0].path) + " is there already", "choose another directory, or overwrite with --force"}
}

func (f newFile) write(dir string) error {
	target := filepath.Join(dir, filepath.FromSlash(f.path))
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	return os.WriteFile(target, []byte(f.text), 0o644)
}

package main

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// newApp lists the commands. The one for ranks is hidden: the launcher starts
// it.
func newApp(s *state) *cli.App {
	app := &cli.App{
		Name:                  "ccrun",
		HelpName:              "ccrun",
		Usage:                 "run a Wasm workflow on every rank of a node and see what its communication costs",
		Description:           appExamples,
		CustomAppHelpTemplate: appHelp,
		Commands: []*cli.Command{
			runCommand(s),
			benchCommand(s),
			recordCommand(s),
			replayCommand(s),
			checkCommand(s),
			calibrateCommand(s),
			reportCommand(s),
			inspectCommand(s),
			newCommand(s),
			abiCommand(s),
			devicesCommand(s),
			versionCommand(s),
			rankCommand(s),
		},
		Writer:                    s.stdout,
		ErrWriter:                 s.stderr,
		HideVersion:               true,
		HideHelpCommand:           true,
		DisableSliceFlagSeparator: true,
		ExitErrHandler:            func(*cli.Context, error) {}, // errors are mapped in exit.go
		OnUsageError:              flagError,
	}
	for _, c := range app.Commands {
		if c.OnUsageError == nil {
			c.OnUsageError = flagError
		}
		c.HideHelpCommand = true
		c.CustomHelpTemplate = commandHelp
	}
	return app
}

// execute carries out the command line and gives the exit code.
func execute(ctx context.Context, s *state) int {
	app := newApp(s)
	args := route(app, s.args)
	if len(args) == 1 {
		return s.fail(usageError{"no workflow given", "ccrun WORKFLOW.wasm runs one, ccrun --help lists what else there is"})
	}
	return s.fail(app.RunContext(ctx, args))
}

// route puts the name of the command run where it was left out: `ccrun
// W.wasm` and `ccrun -n 4 W.wasm` are runs.
func route(app *cli.App, args []string) []string {
	if len(args) < 2 {
		return args
	}
	switch first := args[1]; {
	case first == "-h" || first == "--help" || first == "-help" || first == "help":
		return helpArgs(args)
	case first == "--version" || first == "-version":
		return []string{args[0], "version"}
	case first == "bench":
		return nameLast(args)
	case app.Command(first) != nil:
		return args
	}
	return slices.Insert(slices.Clone(args), 1, "run")
}

// helpArgs turns `help COMMAND` into `COMMAND --help`.
func helpArgs(args []string) []string {
	if len(args) > 2 && !strings.HasPrefix(args[2], "-") {
		return []string{args[0], args[2], "--help"}
	}
	return []string{args[0], "--help"}
}

// noArguments refuses what a command has no use for.
func noArguments(c *cli.Context) error {
	if c.Args().Present() {
		return usageError{"unexpected argument " + quote(c.Args().First()), "see " + c.Command.HelpName + " --help"}
	}
	return nil
}

// oneArgument gives the only argument of a command that needs one.
func oneArgument(c *cli.Context, what string) (string, error) {
	switch c.NArg() {
	case 1:
		return c.Args().First(), nil
	case 0:
		return "", usageError{"no " + what + " given", "see " + c.Command.HelpName + " --help"}
	}
	return "", usageError{"unexpected argument " + quote(c.Args().Get(1)), "see " + c.Command.HelpName + " --help"}
}

// writeAll writes text that was built in memory.
func writeAll(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}

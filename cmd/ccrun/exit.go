package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ccrun/ccrun/runner"
)

// usageError is a command line that cannot be carried out.
type usageError struct{ text, hint string }

func (e usageError) Error() string { return e.text }

// codeError ends the command with a code after everything was said.
type codeError int

func (e codeError) Error() string { return "exit code " + strconv.Itoa(int(e)) }

// fail tells the user of an error and maps it to the exit code.
func (s *state) fail(err error) int {
	var (
		code    codeError
		usage   usageError
		refused *runner.Error
	)
	switch {
	case err == nil:
		return runner.ExitOK
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &usage):
		s.complain(usage.text, usage.hint)
		return runner.ExitUsage
	case errors.As(err, &refused):
		s.complain(refused.Text, refused.Hint)
		return refused.Code
	case errors.Is(err, context.Canceled):
		s.complain("stopped by a signal", "")
		return runner.ExitSignal
	}
	s.complain(err.Error(), "")
	return runner.ExitUsage
}

// complain prints an error, and a hint if there is one.
func (s *state) complain(text, hint string) {
	fmt.Fprintln(s.stderr, "ccrun: error:", text)
	if hint != "" {
		fmt.Fprintln(s.stderr, "ccrun: hint:", hint)
	}
}

// warn tells of what did not harm the run.
func (s *state) warn(format string, args ...any) {
	fmt.Fprintf(s.stderr, "ccrun: warning: "+format+"\n", args...)
}

// Complaints of package flag.
var (
	flagUnknown  = regexp.MustCompile(`^flag provided but not defined: -(.*)$`)
	flagNoValue  = regexp.MustCompile(`^flag needs an argument: -(.*)$`)
	flagBadValue = regexp.MustCompile(`(?s)^invalid (?:boolean )?value ("(?:[^"\\]|\\.)*") for (?:flag )?-([^:]*): (.*)$`)
)

// flagError puts package flag's complaints into our words.
func flagError(c *cli.Context, err error, _ bool) error {
	text := err.Error()
	help := "see " + helpName(c) + " --help"
	if m := flagUnknown.FindStringSubmatch(text); m != nil {
		if helpName(c) == "ccrun run" {
			help += "; the workflow's own flags come after its path"
		}
		return usageError{"unknown flag " + dashes(m[1]), help}
	}
	if m := flagNoValue.FindStringSubmatch(text); m != nil {
		return usageError{"flag " + dashes(m[1]) + " needs a value", help}
	}
	if m := flagBadValue.FindStringSubmatch(text); m != nil {
		reason, hint, ok := strings.Cut(m[3], "\n")
		if !ok {
			hint = help
		}
		return usageError{dashes(m[2]) + " " + m[1] + ": " + reason, hint}
	}
	return usageError{text, help}
}

func helpName(c *cli.Context) string {
	if c.Command != nil && c.Command.HelpName != "" {
		return c.Command.HelpName
	}
	return "ccrun"
}

// dashes spells a flag as the help text does.
func dashes(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// quote makes text of the user's fit into a line.
func quote(text string) string { return strconv.Quote(text) }

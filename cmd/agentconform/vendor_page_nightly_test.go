//go:build nightly

package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shownCommand is a command in a page, with the output that the page shows. "..." stands for any text in a line. If it is
// the whole line, it stands for any lines.
type shownCommand struct {
	command string
	output  []string
}

// transcript reads the commands of a page: the lines of its indented blocks that begin with "$ ".
func transcript(page string) (all []shownCommand) {
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\n")
		text, block := strings.CutPrefix(line, "    ")
		command, isCommand := strings.CutPrefix(text, "$ ")
		switch {
		case block && isCommand:
			all = append(all, shownCommand{command: command})
		case block && len(all) > 0:
			all[len(all)-1].output = append(all[len(all)-1].output, text)
		}
	}
	return all
}

// pattern matches the output of a command.
func (c shownCommand) pattern() string {
	var b strings.Builder
	b.WriteString(`\A`)
	for _, line := range c.output {
		if line == "..." {
			b.WriteString(`(?:.*\n)*`)
			continue
		}
		b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), regexp.QuoteMeta("..."), `.*`) + `\n(?:\n)*`)
	}
	return b.String() + `\z`
}

var inBackground = regexp.MustCompile(`> (\S+) &$`)

const mark = "--- next command ---"

// TestVendorPage runs every command of docs/vendor.md in one shell, and compares the output with the page.
func TestVendorPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/vendor.md")
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	free := listener.Addr().String()
	require.NoError(t, listener.Close())
	commands := transcript(strings.ReplaceAll(string(page), "127.0.0.1:8123", free))
	require.Greater(t, len(commands), 20)

	var shell strings.Builder
	shell.WriteString("trap 'kill $! 2>/dev/null' EXIT\n")
	for _, c := range commands {
		fmt.Fprintf(&shell, "echo '%s'\n(exit ${code:-0})\n%s\ncode=$?\n", mark, c.command)
		if file := inBackground.FindStringSubmatch(c.command); file != nil {
			fmt.Fprintf(&shell, "await %s\n", file[1])
		}
	}
	dir := t.TempDir()
	script := "exec bash session.sh\ncp stdout " + filepath.Join(dir, "out.txt") + "\n-- session.sh --\n" + shell.String()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "vendor.txtar"), []byte(script), 0o600))
	t.Run("session", func(t *testing.T) {
		testscript.Run(t, testscript.Params{Dir: dir, Setup: func(e *testscript.Env) error {
			e.Setenv("NO_COLOR", "1")
			return nil
		}})
	})
	printed, err := os.ReadFile(filepath.Join(dir, "out.txt"))
	require.NoError(t, err)
	outputs := strings.Split(string(printed), mark+"\n")[1:]
	require.Len(t, outputs, len(commands))
	for i, c := range commands {
		assert.Regexp(t, c.pattern(), outputs[i], "$ %s", c.command)
	}
}

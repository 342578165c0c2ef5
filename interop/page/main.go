// Command page writes docs/interop.md: what the suite says of servers that others wrote, requirement by requirement, and what
// the reference answers to clients that others wrote.
//
//	go run ./interop/page OUT PAGE
//
// OUT is the folder with the results of "make interop". It fails where a verdict is not "passed" and nobody has reviewed it.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/baseline"
)

// column is one server.
type column struct {
	folder   string // of its result, below OUT
	title    string
	of       string // what it is, with its version
	baseline string // reviewed failures; empty: none may fail
	result   *reports.Result
	known    *baseline.Baseline
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: page OUT PAGE")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "interop:", err)
		os.Exit(1)
	}
}

func write(out, page string) error {
	python, err := version("interop/python/requirements.txt", "langgraph-api==")
	if err != nil {
		return err
	}
	javascript, err := version("interop/javascript/package.json", `"@langchain/langgraph-api": "`)
	if err != nil {
		return err
	}
	columns := []*column{
		{folder: "reference", title: "Reference", of: "the bundled reference implementation"},
		{folder: "independent", title: "Independent", of: "a second server of this project that shares no code with the reference (interop/independent)"},
		{folder: "python", title: "Python", of: "langgraph-api " + python + " from PyPI, in-memory development mode, ten workers", baseline: "interop/python/baseline.yaml"},
		{folder: "javascript", title: "JavaScript", of: "@langchain/langgraph-api " + javascript + " from npm, ten workers", baseline: "interop/javascript/baseline.yaml"},
		{folder: "mutants/mended", title: "JavaScript, mended", of: "the same with interop/javascript/mended.mjs, which repairs the rollback of a run that has started", baseline: "interop/javascript/baseline.yaml"},
	}
	for _, c := range columns {
		if err := c.load(out); err != nil {
			return err
		}
	}
	calls, err := readCalls(out)
	if err != nil {
		return err
	}
	var b strings.Builder
	if err := servers(&b, columns); err != nil {
		return err
	}
	if err := mutants(&b, filepath.Join(out, "mutants"), columns[len(columns)-1]); err != nil {
		return err
	}
	if err := clients(&b, calls); err != nil {
		return err
	}
	return os.WriteFile(page, []byte(b.String()), 0o644)
}

func (c *column) load(out string) (err error) {
	if c.result, err = reports.ReadFile(filepath.Join(out, c.folder, "result.json")); err != nil {
		return err
	}
	c.known = &baseline.Baseline{}
	if c.baseline != "" {
		c.known, err = baseline.Load(c.baseline)
	}
	return err
}

// version is what follows the text in the file, up to the next quote or the end of the line.
func version(file, text string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("%w; run this in the root of the repository", err)
	}
	_, rest, found := strings.Cut(string(data), text)
	if !found {
		return "", errors.New(file + " does not name " + text)
	}
	end := strings.IndexAny(rest, "\"\n")
	if end < 0 {
		end = len(rest)
	}
	return rest[:end], nil
}

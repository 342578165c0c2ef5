package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports/safe"
)

// languages of the clients, in the order of the columns.
var languages = []string{"python", "javascript"}

// call is one line that a test of a client has written.
type call struct {
	Call   string  `json:"call"`
	Result string  `json:"result"` // "works", or "refused with" a status
	Detail *string `json:"detail"` // of the refusal
}

// readCalls returns the calls of each language by their names.
func readCalls(out string) (map[string]map[string]call, error) {
	all := map[string]map[string]call{}
	for _, language := range languages {
		data, err := os.ReadFile(filepath.Join(out, "clients", language+".calls.jsonl"))
		if err != nil {
			return nil, err
		}
		all[language] = map[string]call{}
		lines := bufio.NewScanner(bytes.NewReader(data))
		for lines.Scan() {
			var c call
			if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
				return nil, fmt.Errorf("reading the calls of the %s client: %w", language, err)
			}
			all[language][c.Call] = c
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("reading the calls of the %s client: %w", language, err)
		}
	}
	return all, nil
}

// clients writes the table of calls.
func clients(b *strings.Builder, calls map[string]map[string]call) error {
	python, err := version("interop/python/requirements.txt", "langgraph-sdk==")
	if err != nil {
		return err
	}
	javascript, err := version("interop/javascript/package.json", `"@langchain/langgraph-sdk": "`)
	if err != nil {
		return err
	}
	fmt.Fprintf(b, `
## Clients

Calls of the unmodified clients (Python: langgraph-sdk %s from PyPI; JavaScript: @langchain/langgraph-sdk %s from npm) against the
reference. Each is a test in `+"`interop/clients/`"+`. The operations beyond the interface are vendor extensions: they are not judged at a
target, but for who is served (AS-AUTHZ-6).

| Call | Python | JavaScript |
| --- | --- | --- |
`, python, javascript)
	names := map[string]bool{}
	for _, language := range languages {
		for name := range calls[language] {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		fmt.Fprintf(b, "| %s |", safe.Markdown(name))
		for _, language := range languages {
			fmt.Fprintf(b, " %s |", safe.Markdown(said(calls[language], name)))
		}
		b.WriteString("\n")
	}
	return nil
}

func said(calls map[string]call, name string) string {
	c, tested := calls[name]
	switch {
	case !tested:
		return "—"
	case c.Detail == nil:
		return c.Result
	}
	detail := *c.Detail
	if text := gjson.Get(detail, "detail"); gjson.Valid(detail) && text.Type == gjson.String {
		detail = text.Str
	}
	return c.Result + ": " + constant(detail)
}

// Package reporttest holds what the tests of the exporters have in common: results, golden files, and the checks that
// every format has to pass for any text of a target.
package reporttest

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Golden compares got with the file testdata/name of the package under test; with -update it writes that file.
func Golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update to write it")
	if changed := diff.Diff(path, want, "now", got); changed != nil {
		t.Errorf("%s has changed; run the test with -update if it is meant:\n%.3000s", path, changed)
	}
}

// Results are the results that every exporter is tested with, by name.
func Results() map[string]*reports.Result {
	empty := &reports.Result{Schema: reports.Schema, Scope: reports.ScopeWhole, Verdict: reports.Incomplete}
	reports.Tally(empty)
	return map[string]*reports.Result{"conformant": Conformant(), "faulty": Faulty(), "empty": empty}
}

// Exporter describes an exporter to [Exporter.Test].
type Exporter struct {
	File   string // the golden file of [Sample]
	Write  func(io.Writer, *reports.Result) error
	Check  func(*testing.T, []byte) // whether readers of the format accept the document
	Golden func([]byte) []byte      // what of the document the golden file holds; nil: all of it
	Limit  int                      // of the size of a document, whatever the target has sent; 0: not checked
}

// Test exports all [Results] and hostile ones, and compares what is written with the format and the golden file.
func (e Exporter) Test(t *testing.T) {
	for name, r := range Results() {
		t.Run(name, func(t *testing.T) { e.export(t, r) })
	}
	doc := e.export(t, Sample())
	if e.Golden != nil {
		doc = e.Golden(doc)
	}
	Golden(t, e.File, doc)
	for name, text := range HostileTexts() {
		t.Run("hostile "+name, func(t *testing.T) {
			doc := e.export(t, Hostile(text))
			assert.True(t, utf8.Valid(doc))
			assert.Equal(t, safe.Visible(string(doc)), string(doc), "nothing invisible is left, whoever prints the file")
			if e.Limit > 0 {
				assert.Less(t, len(doc), e.Limit, "a target cannot blow up a report")
			}
		})
	}
}

func (e Exporter) export(t *testing.T, r *reports.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, e.Write(&b, r))
	e.Check(t, b.Bytes())
	return b.Bytes()
}

// Schema validates a document against a JSON Schema.
func Schema(t *testing.T, schema, doc []byte) {
	t.Helper()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	require.NoError(t, compiler.AddResource("urn:schema", parsed))
	compiled, err := compiler.Compile("urn:schema")
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	require.NoError(t, err)
	require.NoError(t, compiled.Validate(value))
}

// SchemaFile returns a check against the JSON Schema testdata/name of the package under test.
func SchemaFile(name string) func(*testing.T, []byte) {
	return func(t *testing.T, doc []byte) {
		t.Helper()
		schema, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(t, err)
		Schema(t, schema, doc)
	}
}

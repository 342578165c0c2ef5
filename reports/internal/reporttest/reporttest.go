// Package reporttest contains test results, golden files, and the checks that every format has to pass for any text of
// a target.
package reporttest

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/pb33f/jsonschema/v6"
	"github.com/rogpeppe/go-internal/diff"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

var update = flag.Bool("update", false, "rewrite the golden files")

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
		t.Errorf("%s has changed; if this is intended, run the test with -update:\n%.3000s", path, changed)
	}
}

// Results returns the named results with which every exporter is tested.
func Results() map[string]*reports.Result {
	empty := &reports.Result{Schema: reports.Schema, Scope: reports.ScopeWhole, Verdict: reports.Incomplete}
	reports.Tally(empty)
	return map[string]*reports.Result{"conformant": Conformant(), "faulty": Faulty(), "empty": empty}
}

// Exporter is an exporter under test.
type Exporter struct {
	File   string // the golden file of [Sample]
	Write  func(io.Writer, *reports.Result) error
	Check  func(*testing.T, []byte) // fails the test if a document does not have the format; nil: not checked
	Golden func([]byte) []byte      // the part of the document that the golden file contains; nil: all of it
	Limit  int                      // maximum size of a document in bytes, whatever the target sends; 0: not checked
}

// Test exports all [Results] and hostile ones, and compares the documents with the format and the golden file.
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
			assert.Equal(t, safe.Visible(string(doc)), string(doc), "the file has no invisible characters")
			if e.Limit > 0 {
				assert.Less(t, len(doc), e.Limit, "a target cannot make a report too large")
			}
		})
	}
}

func (e Exporter) export(t *testing.T, r *reports.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, e.Write(&b, r))
	if e.Check != nil {
		e.Check(t, b.Bytes())
	}
	return b.Bytes()
}

// Schema validates documents against a JSON Schema.
func Schema(t *testing.T, schema []byte, docs ...[]byte) {
	t.Helper()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	require.NoError(t, compiler.AddResource("urn:schema", parsed))
	compiled, err := compiler.Compile("urn:schema")
	require.NoError(t, err)
	for _, doc := range docs {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
		require.NoError(t, err)
		require.NoError(t, compiled.Validate(value), "%.1000s", doc)
	}
}

// SchemaFile returns a function that validates a document against the JSON Schema testdata/name of the package under test.
func SchemaFile(name string) func(*testing.T, []byte) {
	return func(t *testing.T, doc []byte) {
		t.Helper()
		schema, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(t, err)
		Schema(t, schema, doc)
	}
}

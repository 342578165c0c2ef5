package html

import (
	_ "embed" // assets/matrix.css
	"io"
)

//go:embed assets/matrix.css
var matrixStyle string

// Matrix is the data of a page that compares results: its columns are results, and its rows are capabilities and
// requirements.
type Matrix struct {
	Title    string
	Columns  []MatrixColumn
	Groups   []MatrixGroup
	Untested string // a sentence about the requirements that are not listed, or ""
}

// MatrixColumn is a result.
type MatrixColumn struct {
	Label, Verdict, Suite string
	Tone                  string // class of the verdict: "conformant"
	Link                  string // relative URL of its report, or ""
}

// MatrixGroup is a capability with its requirements. A group without a name has no row of its own.
type MatrixGroup struct {
	MatrixRow
	Rows []MatrixRow
}

// MatrixRow is a capability or a requirement.
type MatrixRow struct {
	Name, Level, Title string
	Cells              []MatrixCell // one for each column
	Same               bool         // all columns have the same result
}

// MatrixCell is a capability or a requirement in one result.
type MatrixCell struct {
	Class   string // class of the result: "passed", or "" if the suite did not have the requirement
	Text    string // "passed"
	Numbers string // "7/8", for a capability
	Reason  string
	Link    string // relative URL of the requirement or capability in the report, or ""
}

// matrix is the data for the templates of the comparison.
type matrix struct {
	Matrix
	assets
}

// WriteMatrix writes a page that compares results. Like the page of a result, it needs no network. It has no script.
// Errors are those of w.
func WriteMatrix(w io.Writer, m Matrix) error {
	page := &matrix{Matrix: scrubbed(m, maxText), assets: assetsOf(style+matrixStyle, "")}
	page.Generator = "agentconform compare"
	return parsed().ExecuteTemplate(w, "matrix", page)
}

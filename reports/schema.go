package reports

import _ "embed" // the schema is part of the program

//go:embed result.schema.json
var resultSchema []byte

// ResultSchema returns the JSON Schema (draft 2020-12) of the result file.
func ResultSchema() []byte { return append([]byte(nil), resultSchema...) }

package reports

import "io"

// HTML is being written.
func HTML(w io.Writer, r *Result) error { return nil }

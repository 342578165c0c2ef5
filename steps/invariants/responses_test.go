package invariants

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStackTraces(t *testing.T) {
	for text, want := range map[string]bool{
		"Traceback (most recent call last):\n  File \"/app/a.py\", line 3, in f": true,
		"  File \"/app/a.py\", line 3, in f":                                     true,
		"Error: x\n    at handle (/app/a.js:10:5)":                               true,
		"Error: x\n    at /app/a.js:10:5":                                        true,
		"java.lang.Error: x\n\tat com.a.B.c(B.java:12)":                          true,
		"panic: x\n\ngoroutine 17 [running]:\nmain.f()\n\t/app/a.go:7 +0x1d":     true,
		"/app/a.rb:12:in `f'":                                                    true,
		"System.Error: x\n   at A.B.C(String d) in /app/a.cs:line 3":             true,
		"no revision was found at 10:15, nor at any other time":                  false,
		"Deployment ID 7 not found.\nLook at the list, in line 3":                false,
		"look at http://docs.test/page:80 or at File 3":                          false,
		"the goroutine of the build ended; see main.go: it is short":             false,
	} {
		assert.Equal(t, want, traces.FindString(text) != "", text)
		quoted, err := json.Marshal(text)
		require.NoError(t, err)
		assert.Equal(t, want, traces.FindString(string(quoted)) != "", "%s", quoted)
	}
}

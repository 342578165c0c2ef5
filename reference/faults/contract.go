package faults

import (
	"net/http"
)

// saying sets the Content-Type of successful answers of an operation.
func saying(op operation, contentType string) Layer {
	return onAnswer(op, func(_ *http.Request, a *answer) {
		if a.status < 300 {
			a.header["Content-Type"] = []string{contentType}
		}
	})
}

// Package client sends HTTP requests to the target and records every exchange.
//
// It is the only way from the suite to the target. Each request has a time limit, each answer a size limit,
// redirects are followed on the target only, requests to wait (429, and 503 with Retry-After) are obeyed within
// limits, and secrets are redacted before anything is recorded. It passes each exchange to an observer and does not judge
// it.
package client

// Package client speaks HTTP with the target and records every exchange.
//
// It is the only way from the suite to the target. Each request has a time limit, each answer is read to a bound,
// redirects are followed on the target only, requests to wait (429, and 503 with Retry-After) are obeyed within
// bounds, and secrets are taken out of what is recorded before anything else sees it. What an exchange means is
// not its business: it hands each to an observer.
package client

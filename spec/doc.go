// Package spec is the contract: what the interface states about single requests and responses, as two OpenAPI 3.1
// documents, and an oracle that judges exchanges against them.
//
// # Use
//
// Make one [Oracle] with [New] and share it. [Oracle.JudgeResponse] returns the violations of a response,
// [Oracle.JudgeRequest] those of a request that was meant to be valid. Each [Violation] names one cause: the operation,
// the status, the location in the body, the violated keyword, the expected and the actual value. [BoundaryCases] derives
// the values around each bound of a parameter, so that tables of examples can be checked against the contract and are not
// a second copy of it.
//
// # What is judged
//
// The status must be declared, the content type must be JSON if the body is JSON, and the body must match its schema,
// formats included. The text itself must be one JSON value with nothing after it, in valid UTF-8, without a key twice in
// one object, and absent if the status forbids a body.
//
// The documents allow any value if the interface specifies none, see their descriptions. Never judged are 429 (section 8
// shows no rate limits), 5xx (other requirements judge them), operations that are not in the documents, and operations
// that are marked as known from the field only.
//
// # How
//
// The schemas of the documents are compiled as libopenapi-validator compiles them: with its vocabulary of OpenAPI 3.1
// and with format assertions, by the compiler that its own validators run. The oracle selects the response and runs the
// compiled schema itself. The high-level validator accepts an empty body and null for every schema, knows only the
// declared media type (a response may have application/problem+json), and copies the whole body for every error, so that
// a hostile target could exhaust the memory. The tests compare the oracle with kin-openapi, and explain each difference.
//
// A target may be hostile: nesting and the number of values are bounded, numbers are not expanded, and quotes in a
// violation are short.
//
// # Limits
//
// The oracle knows one exchange at a time. A check that needs two of them, or the configuration of a target, belongs to
// the features.
package spec

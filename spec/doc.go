// Package spec is the contract: what the interface says about single requests and answers, as two OpenAPI 3.1
// documents, and an oracle that judges exchanges against them.
//
// # Use
//
// Make one [Oracle] with [New] and share it. [Oracle.JudgeResponse] tells what is wrong with an answer,
// [Oracle.JudgeRequest] what is wrong with a request that was meant to be right. Each [Violation] names one cause: the
// operation, the status, the place in the body, the keyword that was broken, what was expected and what was there.
// [BoundaryCases] derives the values around each bound of a parameter, so that tables of examples can be held to the
// contract instead of being a second copy of it.
//
// # What is judged
//
// The status must be declared, the content type must be JSON where the body is JSON, and the body must keep its schema,
// formats included. Beyond that the text itself must be sound: one JSON value and nothing after it, valid UTF-8, no key
// twice in one object, no body where the status forbids one.
//
// The documents are open where the interface is silent, see their descriptions. Never judged are: 429 and 5xx (section
// 8 shows no rate limits, and that no request is answered with a 5xx is a matter of behaviour), operations that are not
// in the documents, and operations marked as known from the field only.
//
// # How
//
// The schemas of the documents are compiled as libopenapi-validator compiles them: with its vocabulary of OpenAPI 3.1
// and with format assertions, by the compiler that its own validators run. The oracle selects the response and runs the
// compiled schema itself instead of calling the high-level validator, for three reasons: that one takes an empty body
// and the body null for every schema, it knows no media type but the one declared (an answer may say
// application/problem+json), and it copies the whole body for every error, with which a hostile target can exhaust the
// memory. The tests compare the oracle with kin-openapi, and explain where they differ.
//
// A target may be hostile: nesting and the number of values are bounded, numbers are not expanded, and what is quoted
// in a violation is short.
//
// # What it is not
//
// It knows one exchange at a time. Whatever needs two of them, or the configuration of a target, belongs to the
// features.
package spec

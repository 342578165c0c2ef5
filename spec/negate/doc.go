// Package negate derives wrong answers from right ones: for each keyword of the OpenAPI documents that a recorded answer keeps, the
// same answer with that keyword broken. It reads the documents with kin-openapi; the oracle that judges the answers reads them
// by itself, so that a mistake of one of the two shows. It is for tests.
package negate

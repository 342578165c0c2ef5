// Package faults defines the deviations of the reference that the self-test of the suite uses (mutation testing).
//
// A fault breaks a requirement. The reference with one fault is a mutant, and the requirement must kill it: it must fail.
// Further requirements that inevitably fail are declared with the reason; any other failure shows that the suite checks too much.
// An [EquivalentMutant] differs from the reference but conforms: a failure there is a false positive. A
// [NullImplementation] implements nothing: it must never be reported as conformant.
//
// Each is a mistake as engineers make it: a value is clamped instead of refused, an index is off by one, only the first value
// is used, a check is missing on one route. Faults are rows (see package deviate); what differs below HTTP, or inside, is a small
// function around the unmodified reference (see [reference.Options]). The reference does not know this package.
package faults

// Package faults holds deliberate deviations of the reference: faults, which a conformance suite must catch, and
// variations, which it must not mind.
//
// Each is one small function around the pristine reference, written as a tired engineer would err: it clamps in place
// of refusing, is off by one, heeds only the first value, holds on one route only. Most are HTTP layers; where a
// layer cannot reach, a part of the reference is wrapped (see [reference.Options]). The reference's own code knows
// nothing of them.
//
// Impostors are servers that are wrong altogether: whatever they answer, they must never be found conformant.
//
// A fault names the requirement that it must fail. Further requirements that inevitably fail with it are named with
// the reason; any other that fails shows that the suite says too much.
package faults

// Package script runs untrusted Starlark code, graphs and authentication handlers, within resource limits.
//
// An agent server executes code that it did not write. The reference runs it in its own process, so a hostile or
// a careless script must not be able to use up the processor, the memory or the stack, nor to outlive its call.
// The Starlark interpreter bounds none but the number of its own instructions, and one instruction can be a
// `[0] * (1 << 30)`. This package closes that gap without changing the interpreter.
//
// # How it is bounded
//
//   - Rewriting. A file is parsed, and its syntax tree is rewritten before it is compiled (rewrite.go): operators,
//     augmented assignments, attribute and index accesses, slices, dict literals and the expansion of *args and
//     **kwargs become calls of guarded operations, which keep the positions of the source. Their names start with
//     a '$', so that no script can contain them.
//   - Closed world. Every built-in function and every method that a script can reach is one of ours
//     (universe.go, methods.go): it first computes what the original is about to cost, charges for it, and only then
//     calls the original. Whatever is not classified there does not exist for scripts; a test compares the tables
//     with the linked version of the interpreter. Since methods are guarded where they are looked up, a method
//     that is handed to sorted(key=...) is guarded too.
//   - Metering. A call has an allowance of steps and one of bytes (Limits). Bytes only ever grow: they count what was
//     allocated, not what is alive, so the sum is an upper bound that needs no help from the garbage collector.
//     Every instruction is charged 16 bytes, which covers the growth of lists and frames; everything larger is charged
//     its own size beforehand. All calls together use one Pool, so a thousand scripts at once are bounded as well.
//   - Weighing. Values may be shared, so a few lines can build a tree of 2^60 leaves. Whatever walks a value
//     (comparing, hashing, printing, encoding, freezing) is preceded by a walk of ours that is charged a step per
//     visit, and is refused where the value is too large or nested too deeply.
//   - Small numbers of large things: a string has at most 4 MiB, an integer 8,192 bits, a dict 16,384 entries. So no
//     single instruction, which cannot be interrupted, takes longer than about a second at the worst.
//   - Time. A call ends with its context, and at its own time limit; waiting is a host function that watches the context.
//   - Stack. Recursion is off, the parser bounds nesting, walks are bounded in depth, JSON is parsed by a decoder
//     with a bound, and globals that contain themselves are refused before they are frozen.
//   - Panics of the interpreter become errors.
//
// The package does not depend on threads, runs or HTTP.
package script

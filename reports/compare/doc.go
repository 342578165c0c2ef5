// Package compare puts several results side by side, and merges the shards of one run.
//
// Side by side stand implementations, or versions of one implementation. The hard part is to blame the right one: a
// new release of the suite brings new requirements, drops some, renames others and checks some more closely, and none
// of this is a regression of the target. So a regression is only what was shown to be kept and is now shown to be
// violated by the same check; everything else has a name of its own (see [Change]).
package compare

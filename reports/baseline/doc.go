// Package baseline keeps the failures of a target that are known, so that a run fails only when something changes.
//
// A baseline is a YAML file that people write and review:
//
//	version: 1
//	known:
//	  - requirement: CP-LIST-3
//	    finding: f-3c1d9a        # optional: only this finding; without it, all that is wrong with the requirement
//	    reason: the limit is not checked before release 5
//	    owner: list-team
//	    expires: 2026-12-31      # the last day on which the entry counts
//	flaky:
//	  - requirement: AS-ROLLBACK-5
//	    reason: the race is not always won on the slow machines
//	    owner: runtime-team
//	    expires: 2026-09-30
//
// It ratchets: an entry for something that passes is stale and makes the run fail, as does one that matches nothing
// or has expired. A flaky entry covers a requirement that passes in one run and fails in the next; it is never
// stale. An entry for a requirement that was skipped, or was left out of the run by a filter, is idle: nothing was
// learned about it.
//
// The package judges results; it does not run anything, and it leaves their verdicts alone.
package baseline

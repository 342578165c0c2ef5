package steps

// notSeen is the outcome where a rule that judges all answers of the run found none of its kind. In a shard others may
// have seen some.
func (r *run) notSeen(what string, args ...any) *outcome {
	if r.Select.Shards > 0 {
		return skipped(what+" (in this shard)", args...)
	}
	return inconclusive(what, args...)
}

package compare

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
)

// FuzzShard: a shard that is read is one of few.
func FuzzShard(f *testing.F) {
	for _, s := range []string{"1/2", "2/1", "0/0", "-1/3", "1/1001", "99999999999999999999/1", "1/2/3", "", "+1/+2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, of, err := shardOf(&reports.Result{Run: reports.Run{Shard: text}})
		if err == nil {
			require.True(t, 1 <= at && at <= of && of <= maxShards)
			a, b, err := shardOf(&reports.Result{Run: reports.Run{Shard: fmt.Sprintf("%d/%d", at, of)}})
			require.NoError(t, err)
			require.Equal(t, []int{at, of}, []int{a, b})
		}
	})
}

package evidence

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzLedger checks that the remaining part of any ledger has the same entries, and that their IDs are segments of
// paths.
func FuzzLedger(f *testing.F) {
	f.Add([]byte(`{"run":"a","target":"http://h","kind":"deployment","id":"d","address":"http://h","created_by":"x"}` + "\n" +
		`{"run":"a","target":"http://h","kind":"thread","id":"t","address":"http://g","deployment":"d","created_by":"x"}` + "\n" +
		`{"run":"a","target":"http://h","kind":"deployment","id":"d","removed":true}` + "\n"))
	f.Add([]byte(`{"kind":"deployment","id":".."}` + "\n" + `{"kind":"thread","id":"a/b","address":"http://h"}` + "\nnot a line\n"))
	f.Add([]byte(`{"kind":"deployment","id":"cut`))
	f.Fuzz(func(t *testing.T, content []byte) {
		left, damaged, err := parseLedger("l", content)
		kept, errKept := linesToKeep("l", content, func(Left) bool { return true })
		require.Equal(t, err == nil, errKept == nil)
		if err != nil {
			return
		}
		for i, e := range left {
			require.True(t, !e.Removed && (e.Kind == Deployment || e.Kind == Thread && e.Address != ""))
			require.NotContains(t, []string{"", ".", ".."}, e.ID)
			for _, other := range left[:i] {
				require.False(t, nameOf(e.LedgerEntry) == nameOf(other.LedgerEntry), "one thing is removed once")
			}
		}
		again, damagedAgain, err := parseLedger("l", kept)
		require.NoError(t, err)
		require.Len(t, again, len(left))
		for i := range left {
			require.Equal(t, left[i], again[i])
		}
		require.Equal(t, damaged, damagedAgain)
	})
}

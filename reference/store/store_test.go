package store

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
)

func TestRecords(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "store.db"), false)
	require.NoError(t, err)
	defer s.Close()
	even := func(n int) bool { return n%2 == 0 }
	require.NoError(t, s.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucket([]byte("b"))
		require.NoError(t, err)
		for key, n := range map[string]int{"a1": 1, "a2": 2, "a3": 3, "a4": 4, "b1": 5, "c6": 6} {
			require.NoError(t, Put(b, key, n))
		}
		list := func(prefix string, page Page, match func(int) bool) []int {
			found, err := Cut(Newest[int](b, prefix), page, match)
			require.NoError(t, err)
			return found
		}
		require.Equal(t, []int{4, 3, 2, 1}, list("a", Everything, Any))
		require.Equal(t, []int{6, 5, 4, 3, 2, 1}, list("", Everything, Any))
		require.Equal(t, []int{6}, list("c", Everything, Any))
		require.Equal(t, []int{}, list("0", Everything, Any))
		require.Equal(t, []int{3, 2}, list("a", Page{Limit: 2, Offset: 1}, Any))
		require.Equal(t, []int{2}, list("a", Page{Limit: 2, Offset: 1}, even), "the filter comes before the page")
		require.NoError(t, Delete(b, "a", even))
		require.Equal(t, []int{6, 5, 3, 1}, list("", Everything, Any))
		missing := errors.New("missing")
		_, err = Get[int](b, "a2", missing)
		require.ErrorIs(t, err, missing)
		require.NoError(t, b.Put([]byte("a0"), []byte("{")))
		_, err = Cut(Newest[int](b, ""), Everything, Any)
		require.ErrorContains(t, err, "decoding a record of type int")
		return nil
	}))
}

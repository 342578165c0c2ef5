package threads

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
)

// BenchmarkCommit compares one writer with many: many share a commit.
func BenchmarkCommit(b *testing.B) {
	for _, parallel := range []int{1, 100} {
		b.Run(fmt.Sprint(parallel), func(b *testing.B) {
			db, err := bbolt.Open(filepath.Join(b.TempDir(), "b.db"), 0o600, nil)
			require.NoError(b, err)
			w := newWriter(db)
			b.SetParallelism(parallel)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := w.write(func(tx *bbolt.Tx) error {
						_, err := tx.CreateBucketIfNotExists([]byte("x"))
						return err
					}); err != nil {
						b.Error(err)
					}
				}
			})
			w.close()
			require.NoError(b, db.Close())
		})
	}
}

package module

import (
	"context"
	"testing"
)

type (
	contextKey struct{}
	innerKey   struct{}
)

// Host calls find the instance in its own context at once and through contexts
// around it, and what is around the instance's is still found.
func TestInstanceIsFound(t *testing.T) {
	i := new(Instance)
	own := i.Context(context.WithValue(t.Context(), contextKey{}, "outer"))
	around := context.WithValue(own, innerKey{}, 1)
	for name, ctx := range map[string]context.Context{"its own": own, "one around it": around} {
		if got := instanceOf(ctx); got != i {
			t.Errorf("%s: %p, want %p", name, got, i)
		}
		if got := ctx.Value(contextKey{}); got != "outer" {
			t.Errorf("%s: value %v", name, got)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a context without an instance is accepted")
		}
	}()
	instanceOf(t.Context())
}

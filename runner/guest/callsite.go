package guest

import (
	"context"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// CallSite is where a guest is when it makes a host call: in which function of
// its author's. Nobody knows unless he asks for it, since looking costs time at
// each call: register the host's functions with a context of [WithCallSites],
// and run the guest with one of [CallSite.Context].
type CallSite struct {
	function string
	authors  map[uint32]string // names of functions seen so far, "" for plumbing
}

// callSiteDepth is how far up the stack is looked for an author's function.
const callSiteDepth = 64

// WithCallSites makes a context to register host functions with that note where
// they are called from. The code of guests is the same as without it.
func WithCallSites(ctx context.Context) context.Context {
	factory := experimental.FunctionListenerFactoryFunc(func(api.FunctionDefinition) experimental.FunctionListener {
		return experimental.FunctionListenerFunc(noteCallSite)
	})
	return experimental.WithFunctionListenerFactory(ctx, factory)
}

type callSiteKey struct{}

// Context is what a guest has to be called with whose calls are to be noted
// here.
func (s *CallSite) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, callSiteKey{}, s)
}

// Function is the innermost function that the guest's author wrote, of those
// that were running when the latest host call was made; "" if the stack does not
// tell.
func (s *CallSite) Function() string { return s.function }

func noteCallSite(ctx context.Context, _ api.Module, _ api.FunctionDefinition, _ []uint64, stack experimental.StackIterator) {
	s, ok := ctx.Value(callSiteKey{}).(*CallSite)
	if !ok {
		return
	}
	s.function = ""
	if stack.Next() { // the host's own
		for depth := 0; depth < callSiteDepth && s.function == "" && stack.Next(); depth++ {
			s.function = s.author(stack.Function().Definition())
		}
	}
}

// author is the name of a guest's function, "" if it is plumbing.
func (s *CallSite) author(f api.FunctionDefinition) string {
	name, known := s.authors[f.Index()]
	if !known {
		if name = demangle(f.Name()); isPlumbing(name) {
			name = ""
		}
		if s.authors == nil {
			s.authors = make(map[uint32]string)
		}
		s.authors[f.Index()] = name
	}
	return name
}

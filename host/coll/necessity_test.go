package coll

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/op"
)

// superfluous are synchronising steps that programs have although data would
// be right without them, and why.
var superfluous = map[string]string{
	"broadcast ring: meet":      "the root must notice when a rank calls something else",
	"reduce ring: meet":         "the first rank must notice when another calls something else",
	"reduce_scatter ring: part": "with fewer ranks it is needed",
	"gather direct: meet":       "the root must notice when a rank calls something else",
	"scatter direct: meet":      "the root must notice when a rank calls something else",
	"barrier oneshot: meet":     "there are no data",
	"barrier doubling: meet":    "ranks must notice when others call something else",
	"barrier doubling: wait":    "there are no data",
}

// TestEveryStepIsNeeded leaves out one synchronising step at a time and expects
// the machine to object in one of a few orders: it proves that the machine sees
// what is wrong, and that programs wait for no more than they must.
func TestEveryStepIsNeeded(t *testing.T) {
	unneeded := map[string]string{}
	eachShape(5, 7, func(s Shape) {
		s.SliceBytes = 8
		for rank := range s.Ranks {
			program, err := Plan(s, rank)
			if err != nil {
				t.Fatalf("%+v: %v", s, err)
			}
			for number := range uint64(2) {
				steps := program.StepsOf(number)
				for n, step := range synchronising(steps) {
					key := fmt.Sprintf("%s %s: %s", s.Collective, s.Algorithm, kindText(steps[step].Kind))
					if !missed(t, s, rank, number, n) {
						unneeded[key] += fmt.Sprintf(" step %d of rank %d in call %d: %s", step, rank, number, Text(program))
					}
				}
			}
		}
	})
	for key, where := range unneeded {
		if superfluous[key] == "" {
			t.Errorf("%s is not needed at%s", key, strings.ReplaceAll(where, "\n", "\n\t"))
		}
	}
	for key := range superfluous {
		if unneeded[key] == "" {
			t.Errorf("%s is needed, or is not there", key)
		}
	}
}

// synchronising gives the indices of the steps that wait or are waited for. Of
// signals it is the last of a flag: for the others the next one does as well,
// only later.
func synchronising(of []op.Step) (steps []int) {
	last := map[flag]int{}
	for i, s := range of {
		if s.Kind == op.StepSignal {
			last[flag{to: int(s.Peer), number: int(s.Flag)}] = i
		}
	}
	for i, s := range of {
		if kindText(s.Kind) != "" && (s.Kind != op.StepSignal || last[flag{to: int(s.Peer), number: int(s.Flag)}] == i) {
			steps = append(steps, i)
		}
	}
	return steps
}

func kindText(k op.StepKind) string {
	return map[op.StepKind]string{op.StepMeet: "meet", op.StepPart: "part", op.StepSignal: "signal", op.StepWait: "wait"}[k]
}

// missed reports whether the machine objects to a call whose program lacks the
// n-th of its synchronising steps on one rank, be it the first call or the
// last.
func missed(t *testing.T, s Shape, rank int, number uint64, n int) bool {
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 3))
		m := newMachine(s.Ranks, seed)
		m.combine, m.divide = exactSums.combine, exactSums.divide
		var rounds []*round
		for range 3 {
			r, err := newRound(s, random)
			if err != nil {
				t.Fatal(err)
			}
			rounds = append(rounds, r)
		}
		at := int(seed%2) * 2
		broken := *rounds[at].programs[rank]
		steps := broken.StepsOf(number)
		step := synchronising(steps)[n]
		broken.Steps, broken.Back = slices.Delete(slices.Clone(steps), step, step+1), nil
		rounds[at].programs[rank] = &broken
		if m.run(rounds) != nil {
			return true
		}
	}
	return false
}

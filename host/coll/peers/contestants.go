package main

import "context"

// contestants is everyone who takes part, in the all-gather and in the
// ping-pong. What must be built is built in dir.
func contestants(ctx context.Context, o options, dir string) (gather, pingpong []contestant, err error) {
	m, err := buildMPI(ctx, o, dir)
	if err != nil {
		return nil, nil, err
	}
	g, err := buildGuest(ctx, o, dir)
	if err != nil {
		return nil, nil, err
	}
	n, err := newNative(o, dir)
	if err != nil {
		return nil, nil, err
	}
	return []contestant{
		{"Open MPI", m.gather},
		{"native ring, put", n.put},
		{"guest, put", g.put},
		{"native ring, get", n.get},
		{"guest, get", g.get},
	}, pingpongContestants(m, n, g), nil
}

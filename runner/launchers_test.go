package runner

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func environment(words string) func(string) string {
	values := make(map[string]string)
	for _, w := range strings.Fields(words) {
		name, value, _ := strings.Cut(w, "=")
		values[name] = value
	}
	return func(name string) string { return values[name] }
}

const (
	torch = "RANK=1 WORLD_SIZE=4 LOCAL_RANK=1 LOCAL_WORLD_SIZE=4 MASTER_ADDR=h MASTER_PORT=29500 "
	ompi  = "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=4 PMIX_NAMESPACE=job7 "
	pmi   = "PMI_RANK=1 PMI_SIZE=4 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=4 "
	slurm = "SLURM_PROCID=1 SLURM_NTASKS=4 SLURM_LOCALID=1 SLURM_JOB_ID=9 SLURM_STEP_ID=0 "
)

func TestDetect(t *testing.T) {
	for _, c := range []struct{ name, env, want string }{
		{"nothing", "", "nil"},
		{"a lone RANK", "RANK=3", "nil"},
		{"torchrun", torch, "torchrun 1/4 local 1/4 [MASTER_ADDR=h MASTER_PORT=29500]"},
		{"two by hand", "RANK=0 WORLD_SIZE=2 MASTER_ADDR=h MASTER_PORT=1", "torchrun 0/2 local 0/2 [MASTER_ADDR=h MASTER_PORT=1]"},
		{"Open MPI", ompi, "openmpi 1/4 local 1/4 [PMIX_NAMESPACE=job7]"},
		{"MVAPICH2", "MV2_COMM_WORLD_RANK=2 MV2_COMM_WORLD_SIZE=3", "mvapich2 2/3 local 2/3 []"},
		{"PMI", pmi, "pmi 1/4 local 1/4 []"},
		{"Slurm", slurm, "slurm 1/4 local 1/4 [SLURM_JOB_ID=9 SLURM_STEP_ID=0]"},
		{"Slurm's own way to count", slurm + "SLURM_NTASKS_PER_NODE=2(x3)", "slurm 1/4 local 1/4 [SLURM_JOB_ID=9 SLURM_STEP_ID=0]"},
		{"all agree", torch + ompi + pmi + slurm, "torchrun 1/4 local 1/4 [MASTER_ADDR=h MASTER_PORT=29500]"},
		{"srun torchrun", torch + "SLURM_PROCID=0 SLURM_NTASKS=1", "torchrun 1/4 local 1/4 [MASTER_ADDR=h MASTER_PORT=29500]"},
		{"torchrun and Open MPI disagree", torch + "OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4",
			"error: launchers disagree: torchrun says rank 1 of 4, openmpi says rank 2 of 4"},
		{"torchrun and PMI disagree", torch + "PMI_RANK=1 PMI_SIZE=8", "error: launchers disagree: torchrun says rank 1 of 4, pmi says rank 1 of 8"},
		{"Open MPI and Slurm disagree", ompi + "SLURM_PROCID=0 SLURM_NTASKS=4", "error: launchers disagree: openmpi says rank 1 of 4, slurm says rank 0 of 4"},
		{"two nodes", "RANK=1 WORLD_SIZE=4 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2",
			"error: torchrun says 4 ranks, 2 of them on this node: the cpu device does not reach across nodes"},
		{"rank past the end", "RANK=4 WORLD_SIZE=4", `error: RANK="4" is not a number from 0 to 3`},
		{"no number", "RANK=x WORLD_SIZE=4", `error: RANK="x" is not a number from 0 to 3`},
		{"negative", "RANK=-1 WORLD_SIZE=4", `error: RANK="-1" is not a number from 0 to 3`},
		{"no ranks", "RANK=0 WORLD_SIZE=0", `error: WORLD_SIZE="0" is not a number from 1 to 1073741824`},
		{"local rank past the end", torch[:strings.Index(torch, "LOCAL_RANK")] + "LOCAL_RANK=9", `error: LOCAL_RANK="9" is not a number from 0 to 3`},
		{"a long value", "RANK=0 WORLD_SIZE=" + strings.Repeat("9", 90), `error: WORLD_SIZE="` + strings.Repeat("9", 40) + `..." is not a number from 1 to 1073741824`},
	} {
		p, err := detect(environment(c.env))
		got := "nil"
		switch {
		case err != nil:
			got = "error: " + err.Error()
		case p != nil:
			got = fmt.Sprintf("%s %d/%d local %d/%d [%s]", p.launcher, p.rank, p.size, p.localRank, p.localSize, p.session)
		}
		if got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
		var refused *Error
		if err != nil && (!errors.As(err, &refused) || refused.Code != ExitUsage || refused.Hint == "") {
			t.Errorf("%s: %#v has no code or no hint", c.name, err)
		}
	}
}

func TestRankCount(t *testing.T) {
	four := &place{launcher: "torchrun", size: 4, sizeVariable: "WORLD_SIZE"}
	for _, c := range []struct {
		asked int
		place *place
		want  string
	}{
		{0, nil, "4"},
		{1, nil, "1"},
		{256, nil, "256"},
		{257, nil, "-n 257: at most 256 ranks on this machine"},
		{100000, nil, "-n 100000: at most 256 ranks on this machine"},
		{-1, nil, "-n -1: a run has at least one rank"},
		{0, four, "4"},
		{4, four, "4"},
		{2, four, "-n 2, but WORLD_SIZE=4"},
		{0, &place{size: 1 << 20, sizeVariable: "WORLD_SIZE"}, "-n 1048576: at most 256 ranks on this machine"},
	} {
		n, err := rankCount(c.asked, c.place)
		got := fmt.Sprint(n)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%d: got %s, want %s", c.asked, got, c.want)
		}
	}
}

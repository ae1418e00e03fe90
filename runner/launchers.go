package runner

import (
	"fmt"
	"strconv"
	"strings"
)

// place is where a launcher's environment says that this process stands.
type place struct {
	launcher             string // "torchrun", "openmpi", ...
	rank, size           int
	localRank, localSize int
	sizeVariable         string
	session              string // the same in all processes of the run and in no other
}

// launcherVariables are what one launcher sets. Lists hold alternatives, best
// first; a launcher counts if its rank and its size are both there.
type launcherVariables struct {
	name                 string
	rank, size           string
	localRank, localSize []string
	sessions             []string // together they name the run
	inherited            bool     // may be left over from what started the launcher that counts
}

// launchers in the order in which they win.
var launchers = []launcherVariables{
	{"torchrun", "RANK", "WORLD_SIZE", []string{"LOCAL_RANK"}, []string{"LOCAL_WORLD_SIZE", "LOCAL_SIZE"},
		[]string{"MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"}, false},
	{"mvapich2", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", []string{"MV2_COMM_WORLD_LOCAL_RANK"}, []string{"MV2_COMM_WORLD_LOCAL_SIZE"},
		[]string{"MPIRUN_ID", "PMI_JOBID"}, false},
	{"openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", []string{"OMPI_COMM_WORLD_LOCAL_RANK"}, []string{"OMPI_COMM_WORLD_LOCAL_SIZE"},
		[]string{"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_hnp_uri"}, false},
	{"pmi", "PMI_RANK", "PMI_SIZE", []string{"MPI_LOCALRANKID", "PMI_LOCAL_RANK"}, []string{"MPI_LOCALNRANKS", "PMI_LOCAL_SIZE"},
		[]string{"PMI_JOBID", "PMI_PORT", "HYDI_CONTROL_FD"}, false},
	{"slurm", "SLURM_PROCID", "SLURM_NTASKS", []string{"SLURM_LOCALID"}, []string{"SLURM_NTASKS_PER_NODE"},
		[]string{"SLURM_JOB_ID", "SLURM_STEP_ID"}, true},
}

// detect reads the launchers' variables. Nil means that this process was not
// started as one of several. Launchers that disagree are refused, with one
// exception: torchrun's variables win over Slurm's, because `srun torchrun`
// leaves in every worker the variables of the agent that started it.
func detect(env func(string) string) (*place, error) {
	var found []*place
	for i := range launchers {
		p, err := launchers[i].read(env)
		if err != nil {
			return nil, err
		}
		if p == nil || launchers[i].inherited && len(found) > 0 && found[0].launcher == "torchrun" {
			continue
		}
		found = append(found, p)
	}
	if len(found) == 0 {
		return nil, nil
	}
	first := found[0]
	for _, other := range found[1:] {
		if other.rank != first.rank || other.size != first.size {
			return nil, refuse("unset the variables of the launcher that did not start this process",
				"launchers disagree: %s says rank %d of %d, %s says rank %d of %d",
				first.launcher, first.rank, first.size, other.launcher, other.rank, other.size)
		}
	}
	if first.localSize < first.size {
		return nil, refuse("start all ranks on one node",
			"%s says %d ranks, %d of them on this node: the cpu device does not reach across nodes", first.launcher, first.size, first.localSize)
	}
	return first, nil
}

// read gives the place that one launcher's variables describe, nil if they are
// not there.
func (l *launcherVariables) read(env func(string) string) (*place, error) {
	if env(l.rank) == "" || env(l.size) == "" {
		return nil, nil
	}
	size, err := number(env, l.size, 1, 1<<30)
	if err != nil {
		return nil, err
	}
	rank, err := number(env, l.rank, 0, size-1)
	if err != nil {
		return nil, err
	}
	p := &place{launcher: l.name, rank: rank, size: size, localRank: rank, localSize: size, sizeVariable: l.size}
	if name := firstSet(env, l.localSize); name != "" {
		// Slurm writes "2(x3)" or a list where nodes differ: then the node is not the whole job.
		if p.localSize, err = number(env, name, 1, size); err != nil && l.inherited {
			p.localSize, err = size, nil
		}
		if err != nil {
			return nil, err
		}
	}
	if name := firstSet(env, l.localRank); name != "" {
		if p.localRank, err = number(env, name, 0, p.localSize-1); err != nil {
			return nil, err
		}
	}
	p.session = l.session(env)
	return p, nil
}

// session joins what names the run, "" if nothing does.
func (l *launcherVariables) session(env func(string) string) string {
	var parts []string
	for _, name := range l.sessions {
		if value := env(name); value != "" {
			parts = append(parts, name+"="+value)
		}
	}
	return strings.Join(parts, " ")
}

func firstSet(env func(string) string, names []string) string {
	for _, name := range names {
		if env(name) != "" {
			return name
		}
	}
	return ""
}

func number(env func(string) string, name string, low, high int) (int, error) {
	n, err := strconv.Atoi(env(name))
	if err != nil || n < low || n > high {
		return 0, refuse("the launcher that started this process should have set it; unset it to start ranks with -n",
			"%s=%s is not a number from %d to %d", name, printable(env(name)), low, high)
	}
	return n, nil
}

// printable cuts a value of the environment to what fits into a message.
func printable(s string) string {
	const most = 40
	if len(s) > most {
		s = s[:most] + "..."
	}
	return fmt.Sprintf("%q", s)
}

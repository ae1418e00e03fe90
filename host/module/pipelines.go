package module

import (
	"fmt"

	"github.com/ccrun/ccrun/host/device"
)

func pipelineCreate(*call) error  { return errPipelines }
func pipelineRanks(*call) error   { return errPipelines }
func pipelineAdd(*call) error     { return errPipelines }
func pipelineBuild(*call) error   { return errPipelines }
func pipelineBuckets(*call) error { return errPipelines }
func pipelineOrder(*call) error   { return errPipelines }
func pipelineAgree(*call) error   { return errPipelines }
func pipelineStart(*call) error   { return errPipelines }
func pipelinePoll(*call) error    { return errPipelines }
func pipelineWait(*call) error    { return errPipelines }
func pipelineAdmit(*call) error   { return errPipelines }
func pipelineStats(*call) error   { return errPipelines }
func pipelineDestroy(*call) error { return errPipelines }

var errPipelines = fmt.Errorf("pipelines: %w", device.ErrMissing)

#!/bin/bash
#SBATCH --array=1-4
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --requeue
# A task that is killed is started again, and goes on with the rows that it has.
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}
export HF_HUB_OFFLINE=1 # every task uses the copy that is here; none asks the network
heedmap lab sink --model ./my-model --data texts.txt --skip-bad \
    --batch-size 2 --shard "$SLURM_ARRAY_TASK_ID/4" -o "shard-$SLURM_ARRAY_TASK_ID" --resume

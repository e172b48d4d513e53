// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Counters of selected QPs ("rdma statistic qp"). */
#include "../base/counters.h"
#include "../core/params.h"
#include "../queue/qp.h"
#include "hw_stats.h"
#include "qp_counter.h"

/* The xarray stores per-CPU pointers, which its type does not express. */
static struct sroce_counters __percpu *to_values(void *entry)
{
	return (struct sroce_counters __percpu __force *)(unsigned long)entry;
}

/* The values of a counter, looked up by its number. */
static struct sroce_counters __percpu *
values_of(const struct rdma_counter *counter)
{
	struct sroce_device *dev = sroce_device(counter->device);

	return to_values(xa_load(&dev->statistics, counter->id));
}

struct rdma_hw_stats *sroce_counter_alloc_stats(struct rdma_counter *counter)
{
	return sroce_alloc_hw_port_stats(counter->device, counter->port);
}

int sroce_counter_update_stats(struct rdma_counter *counter)
{
	struct sroce_device *dev = sroce_device(counter->device);
	struct sroce_counters __percpu *values;

	/*
	 * Netlink may also ask for a counter whose last QP is being destroyed.
	 */
	xa_lock(&dev->statistics);
	values = values_of(counter);
	if (values)
		sroce_counters_sum(values, counter->stats->value);
	xa_unlock(&dev->statistics);
	return 0;
}

/* Allocate the values, for the first QP. */
static int make_values(struct rdma_counter *counter)
{
	struct sroce_device *dev = sroce_device(counter->device);
	struct sroce_counters __percpu *values;
	int err;

	values = alloc_percpu_gfp(struct sroce_counters, GFP_KERNEL_ACCOUNT);
	if (!values)
		return -ENOMEM;
	err = xa_alloc(&dev->statistics, &counter->id,
		       (void *)(unsigned long __force)values, xa_limit_31b, GFP_KERNEL);
	if (err)
		free_percpu(values);
	return err;
}

/* Nothing to do: the first bind allocates the values. */
void sroce_counter_init(struct rdma_counter *counter)
{
}

int sroce_counter_bind_qp(struct rdma_counter *counter,
			  struct ib_qp *SROCE_IBQP_AND_PORT)
{
	struct sroce_qp *qp = sroce_qp_hold(ibqp);
	int err = 0;

	if (!qp)
		return -EINVAL;
	if (!counter->id)
		err = make_values(counter);
	if (!err) {
		WRITE_ONCE(qp->counters, values_of(counter));
		/* The RDMA core leaves this to the driver. */
		ibqp->counter = counter;
	}
	sroce_qp_put(qp);
	return err;
}

int sroce_counter_unbind_qp(struct ib_qp *SROCE_IBQP_AND_PORT)
{
	struct sroce_qp *qp = sroce_qp_hold(ibqp);

	if (qp) {
		WRITE_ONCE(qp->counters, qp->dev->counters);
		sroce_qp_put(qp);
	}
	ibqp->counter = NULL;
	return 0;
}

static void add_up(u64 *total, struct sroce_counters __percpu *counters)
{
	struct sroce_counters sum;
	u32 i;

	sroce_counters_sum(counters, sum.value);
	for (i = 0; i < SROCE_COUNTERS; i++)
		total[i] += sum.value[i];
}

/* No QP is bound, but a softirq may still be counting. */
int sroce_counter_dealloc(struct rdma_counter *counter)
{
	struct sroce_device *dev = sroce_device(counter->device);
	struct sroce_counters __percpu *values = values_of(counter);

	if (!values)
		return 0;
	synchronize_rcu();
	xa_lock(&dev->statistics);
	__xa_erase(&dev->statistics, counter->id);
	add_up(dev->retired.value, values);
	xa_unlock(&dev->statistics);
	free_percpu(values);
	return 0;
}

static void add_up_all(struct sroce_device *dev, struct sroce_counters *total)
{
	unsigned long id;
	void *entry;

	lockdep_assert_held(&dev->statistics.xa_lock);
	*total = dev->retired;
	add_up(total->value, dev->counters);
	xa_for_each(&dev->statistics, id, entry)
		add_up(total->value, to_values(entry));
}

void sroce_qp_counter_total(struct sroce_device *dev,
			    struct sroce_counters *total)
{
	xa_lock(&dev->statistics);
	add_up_all(dev, total);
	xa_unlock(&dev->statistics);
}

void sroce_qp_counter_recent(struct sroce_device *dev,
			     struct sroce_counters *total)
{
	xa_lock(&dev->statistics);
	/* 0 until the first query. */
	if (!dev->recent_until || time_after_eq(jiffies, dev->recent_until)) {
		add_up_all(dev, &dev->recent);
		dev->recent_until = (jiffies + msecs_to_jiffies(SROCE_RECENT_MS)) | 1;
	}
	*total = dev->recent;
	xa_unlock(&dev->statistics);
}

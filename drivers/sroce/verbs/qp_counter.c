// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Counters of selected QPs ("rdma statistic qp"). */
#include "../base/counters.h"
#include "../core/params.h"
#include "../queue/qp.h"
#include "hw_stats.h"
#include "qp_counter.h"

/**
 * struct values - counters of the QPs that are bound to an rdma_counter
 * @counters: per CPU
 * @dev: device, referenced
 * @id: number in @dev->qp_counters
 * @rcu: softirqs may still count when the last QP is unbound
 */
struct values {
	struct sroce_counters __percpu *counters;
	struct sroce_device *dev;
	u32 id;
	struct rcu_head rcu;
};

/*
 * Protects the counter of a QP.  The RDMA core tests it without a lock, so two threads that
 * modify a QP may both bind it.  The second bind would leave the first one's reference.
 */
static DEFINE_MUTEX(bind_lock);

/* The values of a counter, looked up by its number. */
static struct values *values_of(const struct rdma_counter *counter)
{
	struct sroce_device *dev = sroce_device(counter->device);

	return xa_load(&dev->qp_counters, counter->id);
}

struct rdma_hw_stats *sroce_counter_alloc_stats(struct rdma_counter *counter)
{
	return sroce_alloc_hw_port_stats(counter->device, counter->port);
}

int sroce_counter_update_stats(struct rdma_counter *counter)
{
	struct sroce_device *dev = sroce_device(counter->device);
	struct values *values;

	/*
	 * Netlink may also ask for a counter whose last QP is being destroyed.
	 */
	xa_lock_bh(&dev->qp_counters);
	values = values_of(counter);
	if (values)
		sroce_counters_sum(values->counters, counter->stats->value);
	xa_unlock_bh(&dev->qp_counters);
	return 0;
}

static void free_values(struct values *values)
{
	free_percpu(values->counters);
	kfree(values);
}

static struct values *alloc_values(struct sroce_device *dev)
{
	struct values *values = kzalloc_obj(*values, GFP_KERNEL_ACCOUNT);

	if (!values)
		return NULL;
	values->dev = dev;
	values->counters = alloc_percpu_gfp(struct sroce_counters,
					    GFP_KERNEL_ACCOUNT);
	if (values->counters)
		return values;
	kfree(values);
	return NULL;
}

/*
 * Allocate the values, for the first QP.  They hold the device, which waits for
 * them when it is unregistered.
 */
static int make_values(struct rdma_counter *counter)
{
	struct sroce_device *dev = sroce_device(counter->device);
	struct values *values = alloc_values(dev);
	int err = -ENODEV;

	if (!values)
		return -ENOMEM;
	if (!ib_device_try_get(&dev->ib))
		goto err_free;
	err = xa_alloc_bh(&dev->qp_counters, &values->id, values, xa_limit_31b,
			  GFP_KERNEL);
	if (err)
		goto err_put;
	counter->id = values->id;
	return 0;

err_put:
	ib_device_put(&dev->ib);
err_free:
	free_values(values);
	return err;
}

/* Nothing to do: the first bind allocates the values. */
void sroce_counter_init(struct rdma_counter *counter)
{
}

static int bind_values(struct rdma_counter *counter, struct ib_qp *ibqp)
{
	int err = 0;

	lockdep_assert_held(&bind_lock);
	if (ibqp->counter)
		return -EINVAL;
	/* Only if the bind succeeds, the last unbind frees them. */
	if (!counter->id)
		err = make_values(counter);
	if (err)
		return err;
	WRITE_ONCE(sroce_qp(ibqp)->counters, values_of(counter)->counters);
	/* The RDMA core leaves this to the driver. */
	ibqp->counter = counter;
	return 0;
}

int sroce_counter_bind_qp(struct rdma_counter *counter,
			  struct ib_qp *SROCE_IBQP_AND_PORT)
{
	struct sroce_qp *qp = sroce_qp_hold(ibqp);
	int err;

	if (!qp)
		return -EINVAL;
	mutex_lock(&bind_lock);
	err = bind_values(counter, ibqp);
	mutex_unlock(&bind_lock);
	sroce_qp_put(qp);
	return err;
}

int sroce_counter_unbind_qp(struct ib_qp *SROCE_IBQP_AND_PORT)
{
	struct sroce_qp *qp = sroce_qp_hold(ibqp);
	int err;

	mutex_lock(&bind_lock);
	err = ibqp->counter ? 0 : -EINVAL;
	ibqp->counter = NULL;
	if (qp)
		WRITE_ONCE(qp->counters, qp->dev->counters);
	mutex_unlock(&bind_lock);
	if (qp)
		sroce_qp_put(qp);
	return err;
}

static void add_up(u64 *total, struct sroce_counters __percpu *counters)
{
	struct sroce_counters sum;
	u32 i;

	sroce_counters_sum(counters, sum.value);
	for (i = 0; i < SROCE_COUNTERS; i++)
		total[i] += sum.value[i];
}

static void retire_values(struct rcu_head *rcu)
{
	struct values *values = container_of(rcu, struct values, rcu);
	struct sroce_device *dev = values->dev;

	xa_lock_bh(&dev->qp_counters);
	__xa_erase(&dev->qp_counters, values->id);
	add_up(dev->retired.value, values->counters);
	xa_unlock_bh(&dev->qp_counters);
	free_values(values);
	ib_device_put(&dev->ib);
}

/* No QP is bound, but a softirq may still be counting. */
int sroce_counter_dealloc(struct rdma_counter *counter)
{
	struct values *values = values_of(counter);

	if (values)
		call_rcu(&values->rcu, retire_values);
	return 0;
}

static void add_up_all(struct sroce_device *dev, struct sroce_counters *total)
{
	struct values *values;
	unsigned long id;

	lockdep_assert_held(&dev->qp_counters.xa_lock);
	*total = dev->retired;
	add_up(total->value, dev->counters);
	xa_for_each(&dev->qp_counters, id, values)
		add_up(total->value, values->counters);
}

void sroce_qp_counter_recent(struct sroce_device *dev,
			     struct sroce_counters *total)
{
	xa_lock_bh(&dev->qp_counters);
	/* 0 until the first query. */
	if (!dev->recent_until || time_after_eq(jiffies, dev->recent_until)) {
		add_up_all(dev, &dev->recent);
		dev->recent_until = (jiffies + msecs_to_jiffies(SROCE_RECENT_MS)) | 1;
	}
	*total = dev->recent;
	xa_unlock_bh(&dev->qp_counters);
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Per-user workqueues for paging in, because a user can delay page-ins at will.
 */
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>
#include <linux/wait.h>
#include "../core/params.h"
#include "odp_wq.h"

/**
 * struct account - workqueues of a user
 * @pager: the workqueues
 * @node: in @accounts
 * @uid: the user
 * @users: number of address spaces
 * @close: frees the account some time after the last of them
 */
struct account {
	struct sroce_odp_wq pager;
	struct hlist_node node;
	kuid_t uid;
	u32 users;
	struct delayed_work close;
};

/* Protects all accounts, the table and leaving. */
static DEFINE_MUTEX(accounts_lock);
static DEFINE_HASHTABLE(accounts, 8);
static bool leaving;

static DECLARE_WAIT_QUEUE_HEAD(gone);
static u32 num_accounts;
static struct workqueue_struct *janitor;

int sroce_odp_wq_init(void)
{
	janitor = alloc_workqueue("sroce_pager", WQ_UNBOUND, 0);
	return janitor ? 0 : -ENOMEM;
}

void sroce_odp_wq_exit(void)
{
	struct account *account;
	u32 i;

	mutex_lock(&accounts_lock);
	leaving = true;
	hash_for_each(accounts, i, account, node)
		mod_delayed_work(janitor, &account->close, 0);
	mutex_unlock(&accounts_lock);
	wait_event(gone, !READ_ONCE(num_accounts));
	destroy_workqueue(janitor);
}

void sroce_odp_wq_later(struct work_struct *work)
{
	queue_work(janitor, work);
}

/*
 * Account to the owner of the outermost user namespace: inside a namespace,
 * uids are unlimited.
 */
kuid_t sroce_owner_uid(void)
{
	const struct user_namespace *ns = current_user_ns();
	kuid_t uid = current_uid();

	for (; ns != &init_user_ns; ns = ns->parent)
		uid = ns->owner;
	return uid;
}

static void free_account(struct account *account)
{
	if (account->pager.faults)
		destroy_workqueue(account->pager.faults);
	if (account->pager.advice)
		destroy_workqueue(account->pager.advice);
	kfree(account);
}

static bool is_unused(struct account *account)
{
	lockdep_assert_held(&accounts_lock);
	/* If it was used again meanwhile, a later run frees it. */
	return !account->users && !delayed_work_pending(&account->close);
}

static void close_account(struct work_struct *work)
{
	struct account *account = container_of(to_delayed_work(work),
					       struct account, close);
	bool idle;

	mutex_lock(&accounts_lock);
	idle = is_unused(account);
	if (idle)
		hash_del(&account->node);
	mutex_unlock(&accounts_lock);
	if (!idle)
		return;
	free_account(account);
	mutex_lock(&accounts_lock);
	WRITE_ONCE(num_accounts, num_accounts - 1);
	mutex_unlock(&accounts_lock);
	wake_up(&gone);
}

static struct account *make_account(kuid_t uid)
{
	struct account *account = kzalloc_obj(*account, GFP_KERNEL_ACCOUNT);
	struct sroce_odp_wq *pager;

	lockdep_assert_held(&accounts_lock);
	if (!account)
		return NULL;
	pager = &account->pager;
	pager->faults = alloc_workqueue("sroce_fault/%u", WQ_UNBOUND,
					SROCE_FAULT_THREADS, __kuid_val(uid));
	pager->advice = alloc_workqueue("sroce_advice/%u", WQ_UNBOUND,
					SROCE_ADVICE_THREADS, __kuid_val(uid));
	if (!pager->faults || !pager->advice) {
		free_account(account);
		return NULL;
	}
	account->uid = uid;
	INIT_DELAYED_WORK(&account->close, close_account);
	hash_add(accounts, &account->node, __kuid_val(uid));
	WRITE_ONCE(num_accounts, num_accounts + 1);
	return account;
}

static struct account *find_account(kuid_t uid)
{
	struct account *account;

	lockdep_assert_held(&accounts_lock);
	hash_for_each_possible(accounts, account, node, __kuid_val(uid))
		if (uid_eq(account->uid, uid))
			return account;
	return NULL;
}

struct sroce_odp_wq *sroce_odp_wq_get(void)
{
	kuid_t uid = sroce_owner_uid();
	struct account *account;

	mutex_lock(&accounts_lock);
	account = find_account(uid) ?: make_account(uid);
	if (account)
		account->users++;
	mutex_unlock(&accounts_lock);
	return account ? &account->pager : NULL;
}

void sroce_odp_wq_put(struct sroce_odp_wq *pager)
{
	struct account *account;

	if (!pager)
		return;
	account = container_of(pager, struct account, pager);
	mutex_lock(&accounts_lock);
	/* Not freed here: the caller may be a work item of this workqueue. */
	if (!--account->users)
		mod_delayed_work(janitor, &account->close,
				 leaving ? 0 : (SROCE_ODP_WQ_LINGER_S * HZ));
	mutex_unlock(&accounts_lock);
}

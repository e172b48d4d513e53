// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * P_Key table.  RoCE has no subnet manager to fill it, so entry 0 has the default
 * partition.  A QP has a pointer to its entry.
 */
#include "pkey.h"

void sroce_pkey_init(struct sroce_device *dev)
{
	dev->pkeys[0] = SROCE_PKEY_DEFAULT;
}

u16 sroce_pkey_find(const struct sroce_device *dev, u16 pkey)
{
	u16 i;

	for (i = 0; i < SROCE_PKEY_TABLE; i++)
		if (sroce_pkey_matches(READ_ONCE(dev->pkeys[i]), pkey))
			break;
	return i;
}

int sroce_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	if (index >= SROCE_PKEY_TABLE)
		return -EINVAL;
	*pkey = READ_ONCE(sroce_device(ibdev)->pkeys[index]);
	return 0;
}

#ifdef SROCE_OUT_OF_TREE
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <rdma/ib_sysfs.h>

/* The administrator of the host fills the table.  This serializes writers. */
static DEFINE_MUTEX(table_lock);

/*
 * Entry 0 must be the default partition, for the GSI QP; no P_Key may occur
 * twice.
 */
static int check_table(const u16 *table)
{
	u32 i, j;

	if ((table[0] | SROCE_PKEY_FULL) != SROCE_PKEY_DEFAULT)
		return -EINVAL;
	for (i = 1; i < SROCE_PKEY_TABLE; i++) {
		if (table[i] == SROCE_PKEY_FULL)
			return -EINVAL;
		for (j = 0; table[i] && j < i; j++)
			if (table[i] == table[j])
				return -EEXIST;
	}
	return 0;
}

static int parse_table(char *text, u16 *table)
{
	char *word;
	u32 n = 0;
	int err;

	while ((word = strsep(&text, " \t\n"))) {
		if (!*word)
			continue;
		if (n == SROCE_PKEY_TABLE)
			return -E2BIG;
		err = kstrtou16(word, 0, &table[n++]);
		if (err)
			return err;
	}
	return check_table(table);
}

static void replace_table(struct sroce_device *dev, const u16 *table)
{
	struct ib_event event = {
		.device = &dev->ib,
		.element.port_num = SROCE_PORT,
		.event = IB_EVENT_PKEY_CHANGE,
	};
	u32 i;

	mutex_lock(&table_lock);
	for (i = 0; i < SROCE_PKEY_TABLE; i++)
		WRITE_ONCE(dev->pkeys[i], table[i]);
	mutex_unlock(&table_lock);
	ib_dispatch_event(&event);
}

static ssize_t pkey_table_store(struct ib_device *ibdev, u32 port,
				struct ib_port_attribute *attr,
				const char *buf, size_t count)
{
	u16 table[SROCE_PKEY_TABLE] = {};
	char *text = kstrndup(buf, count, GFP_KERNEL);
	int err;

	if (!text)
		return -ENOMEM;
	err = parse_table(text, table);
	kfree(text);
	if (err)
		return err;
	replace_table(sroce_device(ibdev), table);
	return count;
}

/* Prints the table up to the last entry in use. */
static ssize_t pkey_table_show(struct ib_device *ibdev, u32 port,
			       struct ib_port_attribute *attr, char *buf)
{
	const struct sroce_device *dev = sroce_device(ibdev);
	u32 end = SROCE_PKEY_TABLE;
	int len = 0;
	u32 i;

	while (end > 1 && !READ_ONCE(dev->pkeys[end - 1]))
		end--;
	for (i = 0; i < end; i++)
		len += sysfs_emit_at(buf, len, "0x%04x%c",
				     READ_ONCE(dev->pkeys[i]),
				     i + 1 < end ? ' ' : '\n');
	return len;
}

static IB_PORT_ATTR_RW(pkey_table);

static struct attribute *port_attributes[] = {
	&ib_port_attr_pkey_table.attr,
	NULL,
};

static const struct attribute_group port_group = {
	.attrs = port_attributes,
};

const struct attribute_group *sroce_port_groups[] = {
	&port_group,
	NULL,
};
#endif /* SROCE_OUT_OF_TREE */

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Settings of a device in debugfs: /sys/kernel/debug/sroce/NAME/KEY.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <rdma/ib_verbs.h>
#include <rdma/sroce-abi.h>
#include "settings.h"

/* One row for each file, which contains a bool. */
static const struct {
	const char *name;
	size_t offset;
} keys[] = {
	{ "ecn", offsetof(struct sroce_settings, ecn) },
	{ "hold_out_of_order", offsetof(struct sroce_settings, hold) },
};

static struct dentry *root;

static struct ib_client client;

void sroce_settings_default(struct sroce_device *dev)
{
	dev->settings = (struct sroce_settings) { .hold = true };
}

/*
 * Devices in different network namespaces may have the same name, but debugfs has
 * no namespaces.  The folder of the second device also has its index in the name.
 * Without CONFIG_DEBUG_FS a lookup returns an error.
 */
static struct dentry *make_folder(struct ib_device *ibdev)
{
	struct dentry *other = debugfs_lookup(dev_name(&ibdev->dev), root);
	char name[IB_DEVICE_NAME_MAX + 12];

	if (IS_ERR_OR_NULL(other))
		return debugfs_create_dir(dev_name(&ibdev->dev), root);
	dput(other);
	snprintf(name, sizeof(name), "%s.%u", dev_name(&ibdev->dev),
		 ibdev->index);
	return debugfs_create_dir(name, root);
}

/* After a failure files are missing, and debugfs reports it. */
static void add_folder(struct sroce_device *dev)
{
	struct dentry *folder = make_folder(&dev->ib);
	void *settings = &dev->settings;
	int i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		debugfs_create_bool(keys[i].name, 0600, folder,
				    settings + keys[i].offset);
	/* The xarray of client data is not for error pointers. */
	ib_set_client_data(&dev->ib, &client, IS_ERR(folder) ? NULL : folder);
}

/*
 * The RDMA core calls clients when a device is added, removed or renamed, and does
 * not reuse the name meanwhile.  Drivers have no such ops.
 */
static int device_added(struct ib_device *ibdev)
{
	if (ibdev->ops.driver_id != (enum rdma_driver_id)SROCE_DRIVER_ID)
		return -EOPNOTSUPP;
	add_folder(sroce_device(ibdev));
	return 0;
}

static void device_removed(struct ib_device *ibdev, void *folder)
{
	debugfs_remove(folder);
}

/* The folder has the name of the device. */
static void device_renamed(struct ib_device *ibdev, void *folder)
{
	debugfs_remove(folder);
	add_folder(sroce_device(ibdev));
}

static struct ib_client client = {
	.name = "sroce_settings",
	.add = device_added,
	.remove = device_removed,
	.rename = device_renamed,
};

int sroce_settings_init(void)
{
	int err;

	root = debugfs_create_dir(KBUILD_MODNAME, NULL);
	err = ib_register_client(&client);
	if (err)
		debugfs_remove(root);
	return err;
}

void sroce_settings_exit(void)
{
	ib_unregister_client(&client);
	debugfs_remove(root);
}

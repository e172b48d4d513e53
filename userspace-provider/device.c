// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Device, port and clock queries. */
#include <stdio.h>
#include <time.h>

#include "sroce.h"

static void set_firmware_version(struct ibv_device_attr *attr, uint64_t version)
{
	snprintf(attr->fw_ver, sizeof(attr->fw_ver), "%u.%u.%u",
		 (unsigned int)(version >> 32) & 0xffff,
		 (unsigned int)(version >> 16) & 0xffff,
		 (unsigned int)version & 0xffff);
}

int sroce_query_device_ex(struct ibv_context *context,
			  const struct ibv_query_device_ex_input *input,
			  struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ib_uverbs_ex_query_device_resp resp;
	size_t resp_size = sizeof(resp);
	int err;

	err = ibv_cmd_query_device_any(context, input, attr, attr_size,
				       &resp, &resp_size);
	if (err)
		return err;

	set_firmware_version(&attr->orig_attr, resp.base.fw_ver);
	if (attr_size > offsetof(struct ibv_device_attr_ex,
				 packet_pacing_caps.supported_qpts)) {
		attr->packet_pacing_caps.qp_rate_limit_min = SROCE_MIN_RATE;
		attr->packet_pacing_caps.qp_rate_limit_max = SROCE_MAX_RATE;
		attr->packet_pacing_caps.supported_qpts =
			1 << IBV_QPT_RC | 1 << IBV_QPT_UC | 1 << IBV_QPT_UD |
			1 << IBV_QPT_XRC_SEND;
	}
	return 0;
}

int sroce_query_port(struct ibv_context *context, uint8_t port_num,
		     struct ibv_port_attr *attr)
{
	struct ibv_query_port cmd = {};

	return ibv_cmd_query_port(context, port_num, attr, &cmd, sizeof(cmd));
}

#ifdef SROCE_HAVE_PORT_SPEED
int sroce_query_port_speed(struct ibv_context *context, uint32_t port_num,
			   uint64_t *speed)
{
	return sroce_unsupported(ibv_cmd_query_port_speed(context, port_num,
							  speed));
}
#endif

/*
 * Clock of completion timestamps.  As with other providers tv_nsec holds the
 * whole value, so that it compares with a timestamp directly.
 */
int sroce_query_rt_values(struct ibv_context *context,
			  struct ibv_values_ex *values)
{
	struct timespec now;
	uint32_t known = values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK;

	(void)context;
	if (known) {
		if (clock_gettime(CLOCK_MONOTONIC_RAW, &now))
			return errno;
		values->raw_clock.tv_sec = 0;
		values->raw_clock.tv_nsec = now.tv_sec * 1000000000L + now.tv_nsec;
	}
	values->comp_mask = known;
	return 0;
}

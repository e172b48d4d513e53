/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The layout of libibverbs that libsroce assumes.  The includer defines
 *
 *	SIZE(type)		the type's size
 *	MEMBER(type, member)	a member's offset
 *	VALUE(constant)		a constant's value
 */

#ifdef PRIVATE_LAYOUT
SIZE(struct verbs_device);
MEMBER(struct verbs_device, device);
SIZE(struct verbs_match_ent);
MEMBER(struct verbs_match_ent, u.driver_id);
MEMBER(struct verbs_match_ent, kind);
VALUE(VERBS_MATCH_DRIVER_ID);
VALUE(VERBS_QP_EX);

SIZE(struct verbs_device_ops);
MEMBER(struct verbs_device_ops, name);
MEMBER(struct verbs_device_ops, match_min_abi_version);
MEMBER(struct verbs_device_ops, match_max_abi_version);
MEMBER(struct verbs_device_ops, match_table);
MEMBER(struct verbs_device_ops, alloc_context);
MEMBER(struct verbs_device_ops, import_context);
MEMBER(struct verbs_device_ops, alloc_device);
MEMBER(struct verbs_device_ops, uninit_device);

SIZE(struct verbs_qp);
MEMBER(struct verbs_qp, qp);
MEMBER(struct verbs_qp, qp_ex);
MEMBER(struct verbs_qp, comp_mask);
SIZE(struct verbs_cq);
MEMBER(struct verbs_cq, cq);
MEMBER(struct verbs_cq, cq_ex);
SIZE(struct verbs_srq);
MEMBER(struct verbs_srq, srq);
SIZE(struct verbs_xrcd);
MEMBER(struct verbs_xrcd, xrcd);
SIZE(struct verbs_mr);
MEMBER(struct verbs_mr, ibv_mr);
MEMBER(struct verbs_mr, mr_type);
VALUE(IBV_MR_TYPE_NULL_MR);
SIZE(struct verbs_dm);
MEMBER(struct verbs_dm, dm);
MEMBER(struct verbs_dm, handle);

SIZE(struct verbs_context_ops);
MEMBER(struct verbs_context_ops, advise_mr);
MEMBER(struct verbs_context_ops, alloc_dm);
#if SROCE_PABI >= 59
SIZE(struct verbs_dmah);
MEMBER(struct verbs_dmah, handle);
MEMBER(struct verbs_context_ops, alloc_dmah);
MEMBER(struct verbs_context_ops, dealloc_dmah);
MEMBER(struct verbs_context_ops, reg_mr_ex);
#endif
#ifdef SROCE_HAVE_PORT_SPEED
MEMBER(struct verbs_context_ops, query_port_speed);
#endif
#if SROCE_PABI >= 65
MEMBER(struct verbs_context_ops, create_comp_cntr);
MEMBER(struct verbs_context_ops, destroy_comp_cntr);
MEMBER(struct verbs_context_ops, inc_comp_cntr);
MEMBER(struct verbs_context_ops, inc_err_comp_cntr);
MEMBER(struct verbs_context_ops, qp_attach_comp_cntr);
MEMBER(struct verbs_context_ops, query_comp_cntr_caps);
MEMBER(struct verbs_context_ops, read_comp_cntr);
MEMBER(struct verbs_context_ops, read_err_comp_cntr);
MEMBER(struct verbs_context_ops, set_comp_cntr);
MEMBER(struct verbs_context_ops, set_err_comp_cntr);
#endif
MEMBER(struct verbs_context_ops, alloc_mw);
MEMBER(struct verbs_context_ops, alloc_null_mr);
MEMBER(struct verbs_context_ops, alloc_parent_domain);
MEMBER(struct verbs_context_ops, alloc_pd);
MEMBER(struct verbs_context_ops, alloc_td);
MEMBER(struct verbs_context_ops, attach_mcast);
MEMBER(struct verbs_context_ops, bind_mw);
MEMBER(struct verbs_context_ops, close_xrcd);
MEMBER(struct verbs_context_ops, create_ah);
MEMBER(struct verbs_context_ops, create_cq);
MEMBER(struct verbs_context_ops, create_cq_ex);
MEMBER(struct verbs_context_ops, create_qp);
MEMBER(struct verbs_context_ops, create_qp_ex);
MEMBER(struct verbs_context_ops, create_srq);
MEMBER(struct verbs_context_ops, create_srq_ex);
MEMBER(struct verbs_context_ops, dealloc_mw);
MEMBER(struct verbs_context_ops, dealloc_pd);
MEMBER(struct verbs_context_ops, dealloc_td);
MEMBER(struct verbs_context_ops, dereg_mr);
MEMBER(struct verbs_context_ops, destroy_ah);
MEMBER(struct verbs_context_ops, destroy_cq);
MEMBER(struct verbs_context_ops, destroy_qp);
MEMBER(struct verbs_context_ops, destroy_srq);
MEMBER(struct verbs_context_ops, detach_mcast);
MEMBER(struct verbs_context_ops, free_context);
MEMBER(struct verbs_context_ops, free_dm);
MEMBER(struct verbs_context_ops, get_srq_num);
MEMBER(struct verbs_context_ops, import_dm);
MEMBER(struct verbs_context_ops, import_mr);
MEMBER(struct verbs_context_ops, import_pd);
MEMBER(struct verbs_context_ops, modify_cq);
MEMBER(struct verbs_context_ops, modify_qp);
MEMBER(struct verbs_context_ops, modify_qp_rate_limit);
MEMBER(struct verbs_context_ops, modify_srq);
MEMBER(struct verbs_context_ops, open_qp);
MEMBER(struct verbs_context_ops, open_xrcd);
MEMBER(struct verbs_context_ops, poll_cq);
MEMBER(struct verbs_context_ops, post_recv);
MEMBER(struct verbs_context_ops, post_send);
MEMBER(struct verbs_context_ops, post_srq_recv);
MEMBER(struct verbs_context_ops, query_device_ex);
MEMBER(struct verbs_context_ops, query_port);
MEMBER(struct verbs_context_ops, query_qp);
MEMBER(struct verbs_context_ops, query_rt_values);
MEMBER(struct verbs_context_ops, query_srq);
MEMBER(struct verbs_context_ops, reg_dm_mr);
MEMBER(struct verbs_context_ops, reg_dmabuf_mr);
MEMBER(struct verbs_context_ops, reg_mr);
MEMBER(struct verbs_context_ops, req_notify_cq);
MEMBER(struct verbs_context_ops, rereg_mr);
MEMBER(struct verbs_context_ops, resize_cq);
MEMBER(struct verbs_context_ops, unimport_dm);
MEMBER(struct verbs_context_ops, unimport_mr);
MEMBER(struct verbs_context_ops, unimport_pd);

SIZE(struct ibv_command_buffer);
MEMBER(struct ibv_command_buffer, next);
MEMBER(struct ibv_command_buffer, next_attr);
MEMBER(struct ibv_command_buffer, last_attr);
MEMBER(struct ibv_command_buffer, uhw_in_idx);
MEMBER(struct ibv_command_buffer, uhw_out_idx);
MEMBER(struct ibv_command_buffer, hdr);
VALUE(_UHW_NO_INDEX);

SIZE(struct ibv_alloc_mw);
SIZE(struct ibv_alloc_pd);
SIZE(struct ibv_create_cq_ex);
SIZE(struct ibv_create_qp_ex);
SIZE(struct ibv_create_xsrq);
SIZE(struct ibv_get_context);
SIZE(struct ibv_modify_cq);
SIZE(struct ibv_modify_qp);
SIZE(struct ibv_modify_qp_ex);
SIZE(struct ibv_modify_srq);
SIZE(struct ibv_open_qp);
SIZE(struct ibv_open_xrcd);
SIZE(struct ibv_query_port);
SIZE(struct ibv_query_qp);
SIZE(struct ibv_query_srq);
SIZE(struct ibv_reg_mr);
SIZE(struct ibv_rereg_mr);
SIZE(struct ibv_resize_cq);

SIZE(struct sroce_cmd_get_context);
MEMBER(struct sroce_cmd_get_context, drv_payload);
SIZE(struct sroce_cmd_get_context_resp);
MEMBER(struct sroce_cmd_get_context_resp, drv_payload);
SIZE(struct sroce_cmd_reg_mr);
MEMBER(struct sroce_cmd_reg_mr, drv_payload);
SIZE(struct sroce_cmd_reg_mr_resp);
MEMBER(struct sroce_cmd_reg_mr_resp, drv_payload);
SIZE(struct sroce_cmd_create_cq);
MEMBER(struct sroce_cmd_create_cq, drv_payload);
SIZE(struct sroce_cmd_create_cq_resp);
MEMBER(struct sroce_cmd_create_cq_resp, drv_payload);
SIZE(struct sroce_cmd_resize_cq);
MEMBER(struct sroce_cmd_resize_cq, drv_payload);
SIZE(struct sroce_cmd_resize_cq_resp);
MEMBER(struct sroce_cmd_resize_cq_resp, drv_payload);
SIZE(struct sroce_cmd_create_ah);
MEMBER(struct sroce_cmd_create_ah, drv_payload);
SIZE(struct sroce_cmd_create_ah_resp);
MEMBER(struct sroce_cmd_create_ah_resp, drv_payload);
SIZE(struct sroce_cmd_create_qp);
MEMBER(struct sroce_cmd_create_qp, drv_payload);
SIZE(struct sroce_cmd_create_qp_resp);
MEMBER(struct sroce_cmd_create_qp_resp, drv_payload);
SIZE(struct sroce_cmd_create_srq);
MEMBER(struct sroce_cmd_create_srq, drv_payload);
SIZE(struct sroce_cmd_create_srq_resp);
MEMBER(struct sroce_cmd_create_srq_resp, drv_payload);
SIZE(struct sroce_cmd_modify_srq);
MEMBER(struct sroce_cmd_modify_srq, drv_payload);
SIZE(struct sroce_cmd_modify_srq_resp);
MEMBER(struct sroce_cmd_modify_srq_resp, drv_payload);
#endif

/*
 * The public structures, which grow only at their ends.  Code that was compiled with
 * the header of one version must work with the library of another.  struct
 * ibv_qp_ex has grown; see qp.c.
 */
#ifdef PUBLIC_LAYOUT
SIZE(struct ib_uverbs_get_context_resp);
SIZE(struct ib_uverbs_alloc_pd_resp);
SIZE(struct ib_uverbs_create_ah_resp);
SIZE(struct ib_uverbs_ex_create_cq_resp);
SIZE(struct ib_uverbs_create_srq_resp);
SIZE(struct ib_uverbs_ex_create_qp_resp);
SIZE(struct ib_uverbs_create_qp_resp);
SIZE(struct ib_uverbs_open_xrcd_resp);
SIZE(struct ib_uverbs_reg_mr_resp);
MEMBER(struct ib_uverbs_ex_query_device_resp, base.fw_ver);

SIZE(struct ibv_device);
SIZE(struct ibv_context);
SIZE(struct verbs_context);
MEMBER(struct verbs_context, context);
MEMBER(struct ibv_context, cmd_fd);
SIZE(struct ibv_pd);
SIZE(struct ibv_td);
SIZE(struct ibv_dm);
SIZE(struct ibv_alloc_dm_attr);
SIZE(struct ibv_mr);
SIZE(struct ibv_ah);
SIZE(struct ibv_srq);
SIZE(struct ibv_cq);
SIZE(struct ibv_cq_ex);
MEMBER(struct ibv_cq_ex, status);
MEMBER(struct ibv_cq_ex, wr_id);
MEMBER(struct ibv_cq_ex, start_poll);
MEMBER(struct ibv_cq_ex, next_poll);
MEMBER(struct ibv_cq_ex, end_poll);
MEMBER(struct ibv_cq_ex, read_opcode);
MEMBER(struct ibv_cq_ex, read_completion_wallclock_ns);
SIZE(struct ibv_qp);
MEMBER(struct ibv_qp, state);
MEMBER(struct ibv_qp, qp_type);
MEMBER(struct ibv_qp_ex, qp_base);
MEMBER(struct ibv_qp_ex, wr_id);
MEMBER(struct ibv_qp_ex, wr_flags);
MEMBER(struct ibv_qp_ex, wr_atomic_cmp_swp);
MEMBER(struct ibv_qp_ex, wr_rdma_write);
MEMBER(struct ibv_qp_ex, wr_set_sge_list);
MEMBER(struct ibv_qp_ex, wr_set_xrc_srqn);
MEMBER(struct ibv_qp_ex, wr_start);
MEMBER(struct ibv_qp_ex, wr_complete);
MEMBER(struct ibv_qp_ex, wr_abort);
SIZE(struct ibv_wc);
MEMBER(struct ibv_wc, wc_flags);
SIZE(struct ibv_sge);
SIZE(struct ibv_send_wr);
MEMBER(struct ibv_send_wr, wr.rdma.rkey);
MEMBER(struct ibv_send_wr, wr.atomic.rkey);
MEMBER(struct ibv_send_wr, wr.ud.remote_qkey);
MEMBER(struct ibv_send_wr, qp_type.xrc.remote_srqn);
SIZE(struct ibv_recv_wr);
SIZE(struct ibv_qp_init_attr);
MEMBER(struct ibv_qp_init_attr_ex, send_ops_flags);
MEMBER(struct ibv_cq_init_attr_ex, parent_domain);
MEMBER(struct ibv_device_attr_ex, orig_attr.fw_ver);
MEMBER(struct ibv_device_attr_ex, completion_timestamp_mask);
MEMBER(struct ibv_device_attr_ex, hca_core_clock);
SIZE(struct ibv_values_ex);
SIZE(struct ibv_qp_open_attr);
SIZE(struct ibv_xrcd);
SIZE(struct ibv_xrcd_init_attr);
MEMBER(struct ibv_srq_init_attr_ex, cq);
MEMBER(struct ibv_qp_init_attr_ex, xrcd);
SIZE(struct ibv_parent_domain_init_attr);
#endif

#include "scheduler/members/job_config_maker.h"

#include "core/check.h"

namespace banyan {

std::vector<std::string> NodeNames(const OverlayConfig& overlay) {
  std::vector<std::string> names;
  for (const NodeConfig& node : overlay.nodes) names.push_back(node.name);
  return names;
}

JobConfig MakeJobConfig(const OverlayConfig& overlay, NodeId node) {
  BANYAN_CHECK(node.value() >= 1 && node.value() <= overlay.nodes.size());
  JobConfig config;
  config.job = overlay.job;
  config.aggregation = overlay.aggregation;
  config.chunk_max_elements = overlay.chunks.max_elements;
  config.workers = static_cast<uint32_t>(overlay.nodes[node.value() - 1].workers);
  config.rounds_in_flight = static_cast<uint32_t>(overlay.policy.rounds_in_flight);
  if (overlay.transport.connections.has_value()) {
    config.connections_per_link = static_cast<uint32_t>(*overlay.transport.connections);
  }
  // What the operator has counted is used.
  config.bytes_per_connection = overlay.transport.connections.has_value() ? 0 : overlay.transport.bytes_per_connection;
  config.window_bytes = overlay.transport.window_bytes.value_or(0);
  config.early_bytes = overlay.transport.early_bytes;
  config.relay_bytes = overlay.transport.relay_bytes;
  config.heartbeat = overlay.membership.heartbeat;
  config.lost_after = overlay.membership.lost_after;
  config.scheduler_lost_after = overlay.membership.scheduler_lost_after;
  config.compression = overlay.compression;
  config.trimming = overlay.trimming;
  config.low_bit = overlay.low_bit;
  // Of a single one the node knows a better address: the one by which it has come.
  if (overlay.scheduler.addresses.size() > 1) config.schedulers = overlay.scheduler.addresses;
  if (config.schedulers.size() > kMaxSchedulers) config.schedulers.resize(kMaxSchedulers);
  return config;
}

TransmissionSettings MakeTransmissionSettings(const OverlayConfig& overlay) {
  TransmissionSettings settings;
  settings.measures = overlay.awareness.enabled;
  settings.probe_chunk_bytes = overlay.awareness.probe_chunk_bytes;
  settings.probe_chunks = static_cast<uint32_t>(overlay.awareness.probe_chunks);
  settings.estimator = overlay.awareness.estimator;
  settings.uses_auxiliary_paths = overlay.multipath.enabled;
  settings.primary_busy_bound = static_cast<uint32_t>(overlay.multipath.primary_busy_bound);
  settings.auxiliary_queue_length = static_cast<uint32_t>(overlay.multipath.auxiliary_queue_length);
  return settings;
}

}  // namespace banyan

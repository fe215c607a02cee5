# Terraform does not mark results of `external` as sensitive, whatever went into the query: snippets may hold password
# hashes and keys, so it is done here. The state holds them in clear all the same.
output "ignition" {
  description = "Ignition config of the nodes, for user_data. On AWS and Azure base64encode() it."
  value       = data.external.gpu_node.result.ignition
  sensitive   = true

  precondition {
    condition     = tonumber(data.external.gpu_node.result.ignition_bytes) <= var.user_data_limit
    error_message = "The Ignition config takes ${data.external.gpu_node.result.ignition_bytes} bytes, allowed are ${var.user_data_limit}. Serve large files over https, or add shrink = true to the query."
  }
}

output "butane" {
  description = "The same config as Butane, without the snippets, to read or to give to ct_config."
  value       = data.external.gpu_node.result.butane
}

output "helm_values" {
  description = "Values of the gpu-operator chart, for `values = [...]` of helm_release."
  value       = data.external.gpu_node.result.helm_values

  precondition {
    condition     = data.external.gpu_node.result.helm_values != ""
    error_message = "Which image brings the driver is not known: set repository and driver_version, or spec = { driver = { strategy = \"sysext\" } }."
  }
}

output "driver_image" {
  description = "Image that the operator pulls on these nodes; empty where Flatcar brings the driver."
  value       = data.external.gpu_node.result.driver_image
}

output "ignition_sha256" {
  description = "Checksum of the Ignition config, for names and triggers."
  value       = data.external.gpu_node.result.ignition_sha256
}

output "flatcar_version" {
  description = "The Flatcar release that was planned for."
  value       = data.external.gpu_node.result.flatcar_version
}

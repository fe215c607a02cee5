# The program is found on PATH, runs at every plan, and needs no network for a release that is named by its version.
# Keep the query known at plan time: else it runs at apply, and whatever uses the result may be replaced.
data "external" "gpu_node" {
  program = ["flatcar-gpu", "terraform"]

  query = {
    spec           = jsonencode(var.spec)
    flatcar        = var.flatcar
    platform       = var.platform
    repository     = var.repository
    driver_version = var.driver_version
    snippets       = jsonencode(var.snippets)
  }
}

# Warnings of the program would be shown nowhere; a check shows them and lets the plan go on.
check "gpu_node" {
  assert {
    condition     = length(jsondecode(data.external.gpu_node.result.warnings)) == 0
    error_message = join("\n", jsondecode(data.external.gpu_node.result.warnings))
  }
}

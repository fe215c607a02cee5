"""What is given to Kubernetes: monitoring agents that need NVIDIA's management library."""

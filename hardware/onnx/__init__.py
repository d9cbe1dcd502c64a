"""Networks in ONNX Runtime."""

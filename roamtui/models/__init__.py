"""Language models behind one protocol: litellm, OpenAI-compatible over httpx, guide, scripted, cached."""

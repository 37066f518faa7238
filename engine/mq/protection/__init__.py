"""Message protection: messages signed and encrypted by the policies of their queues, before they are put."""

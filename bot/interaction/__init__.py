"""What every listener shares: the person who acts, the form, the modal, the error's sentence."""
